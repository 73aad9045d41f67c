/// The one list of what must not be shown: secrets in URLs and header fields that are known, and those that are added.
///
/// A secret reads `REDACTED`. The query keys are those of OpenTelemetry's conventions for `url.full`.
public struct SecretList: Sendable, Hashable {
  /// Lower-case names of fields.
  private var headers: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key", "x-auth-token", "x-amz-security-token",
    "authentication-info", "proxy-authentication-info",
  ]
  /// Lower-case names of query parameters.
  private var query: Set<String> = [
    "x-amz-signature", "x-amz-credential", "x-amz-security-token", "awsaccesskeyid", "signature", "sig",
    "x-goog-signature",
  ]

  public static let placeholder = "REDACTED"

  /// Fields whose values are URLs, which can hold secrets of their own.
  private static let links: Set<String> = ["location", "content-location", "referer"]

  /// The known secrets, and further names of fields and query parameters, all compared without case.
  public init(headers: [String] = [], query: [String] = []) {
    self.headers.formUnion(headers.map { $0.lowercased() })
    self.query.formUnion(query.map { $0.lowercased() })
  }

  /// A field's value as it may be shown.
  public func value(_ value: String, ofHeader name: String) -> String {
    let name = name.lowercased()
    if headers.contains(name) { return Self.placeholder }
    return Self.links.contains(name) ? url(value) : value
  }

  /// A URL, absolute or not, as it may be shown: user and password, the values of secret parameters, and the fragment
  /// are gone.
  public func url(_ url: String) -> String {
    // The common case: nothing in it that could hide a secret.
    guard url.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "#") })
    else { return url }
    let sent = url.prefix { $0 != "#" }
    guard let mark = sent.firstIndex(of: "?") else { return withoutUser(sent) }
    return withoutUser(sent[..<mark]) + "?" + parameters(sent[sent.index(after: mark)...])
  }

  private func parameters(_ query: Substring) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false).map { parameter in
      guard let equals = parameter.firstIndex(of: "=") else { return String(parameter) }
      let name = parameter[..<equals]
      return self.query.contains(unescaped(name).lowercased()) ? "\(name)=\(Self.placeholder)" : String(parameter)
    }.joined(separator: "&")
  }

  private func withoutUser(_ url: Substring) -> String {
    guard let start = url.firstRange(of: "//")?.upperBound else { return String(url) }
    let authority = url[start...].prefix { $0 != "/" }
    guard let end = authority.lastIndex(of: "@") else { return String(url) }
    return "\(url[..<start])\(Self.placeholder):\(Self.placeholder)\(url[end...])"
  }

  /// A name with its percent escapes undone, so that no spelling gets past the list.
  private func unescaped(_ name: Substring) -> String {
    guard name.utf8.contains(UInt8(ascii: "%")) else { return String(name) }
    let parts = name.split(separator: "%", omittingEmptySubsequences: false)
    return parts.dropFirst().reduce(into: String(parts[0])) { text, part in
      if let byte = UInt8(part.prefix(2), radix: 16), byte < 0x80 {
        text += "\(Character(UnicodeScalar(byte)))\(part.dropFirst(2))"
      } else {
        text += "%\(part)"
      }
    }
  }
}
