/// The list of values that must not be shown: known secrets in URLs and header fields, and additional ones.
///
/// A secret is shown as `REDACTED`. The secret query keys are the keys of signed URLs (as in OpenTelemetry's
/// conventions for `url.full`), the keys of OAuth 2.0 (RFC 6749, RFC 6750), and common names of passwords and API keys.
package struct Redactor: Sendable, Hashable {
  /// Lower-case names of the fields with which a request identifies the caller to the server.
  package static let credentialFields = [
    "authorization", "cookie", "x-api-key", "x-auth-token", "x-amz-security-token",
  ]

  /// Lower-case names of fields.
  private var headers = Set(
    credentialFields + ["proxy-authorization", "set-cookie", "authentication-info", "proxy-authentication-info"])
  /// Lower-case names of query parameters.
  private var query: Set<String> = [
    "x-amz-signature", "x-amz-credential", "x-amz-security-token", "awsaccesskeyid", "signature", "sig",
    "x-goog-signature", "access_token", "refresh_token", "id_token", "client_secret", "client_assertion", "api_key",
    "apikey", "api-key", "auth_token", "token", "password", "passwd", "secret",
  ]

  /// The text that is shown in place of every secret.
  package static let placeholder = "REDACTED"

  /// Fields whose values are URLs, which may contain secrets.
  private static let links: Set<String> = ["location", "content-location", "referer"]

  /// The known secrets, and further names of fields and query parameters, all compared case-insensitively.
  package init(headers: [String] = [], query: [String] = []) {
    self.headers.formUnion(headers.map { $0.lowercased() })
    self.query.formUnion(query.map { $0.lowercased() })
  }

  /// Whether the values of a query parameter, or of a member of a document, with this name are secret.
  package func isSecret(parameter name: String) -> Bool { query.contains(name.lowercased()) }

  /// A field's value with secrets replaced.
  package func value(_ value: String, ofHeader name: String) -> String {
    let name = name.lowercased()
    if headers.contains(name) { return Self.placeholder }
    return Self.links.contains(name) ? url(value) : value
  }

  /// A URL, absolute or not, in a form that can be shown: without user, password, values of secret parameters, and
  /// fragment.
  package func url(_ url: String) -> String {
    // The common case: no part of the URL can contain a secret.
    guard Self.hasDelimiter(url.utf8.span) else { return url }
    // Searches by scalars, because a delimiter and a combining mark after it form one character.
    let sent = url.unicodeScalars.prefix { $0 != "#" }
    guard let mark = sent.firstIndex(of: "?") else { return withoutUser(sent) }
    return withoutUser(sent[..<mark]) + "?" + parameters(sent[sent.index(after: mark)...])
  }

  private static func hasDelimiter(_ url: Span<UInt8>) -> Bool {
    let (question, at, hash) = (UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "#"))
    var index = 0
    while let word = url.word(at: index), !word.contains(question), !word.contains(at), !word.contains(hash) {
      index += 8
    }
    return HTTPURL.firstIndex(in: url, from: index) { $0 == question || $0 == at || $0 == hash } < url.count
  }

  private func parameters(_ query: Substring.UnicodeScalarView) -> String {
    query.split(separator: "&", omittingEmptySubsequences: false).map { parameter in
      guard let equals = parameter.firstIndex(of: "=") else { return String(parameter) }
      let name = String(parameter[..<equals])
      return self.query.contains(unescaped(name).lowercased()) ? "\(name)=\(Self.placeholder)" : String(parameter)
    }.joined(separator: "&")
  }

  private func withoutUser(_ url: Substring.UnicodeScalarView) -> String {
    let text = String(url)
    guard let start = url.firstRange(of: "//".unicodeScalars)?.upperBound else { return text }
    let authority = url[start...].prefix { $0 != "/" }
    guard let end = authority.lastIndex(of: "@") else { return text }
    return "\(Substring(url[..<start]))\(Self.placeholder):\(Self.placeholder)\(Substring(url[end...]))"
  }

  /// A percent-decoded name, so that no spelling gets past the list.
  private func unescaped(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "%")) else { return name }
    return String(decoding: PercentCoding.decoded(name.utf8.span), as: UTF8.self)
  }
}
