/// A host on a list: `api.example.com`, `*.example.com`, or `*` for every host.
///
/// `*.example.com` matches every name below `example.com` at any depth and not `example.com` itself. A pattern may have
/// a scheme and a port (`https://api.example.com:8443`, `*:8080`), which must then match too. Only the parsed origin is
/// compared. Names are compared as text and never looked up. Addresses are compared by value. An IPv4 address also
/// matches its IPv4-mapped form, in both directions (`127.0.0.1` and `[::ffff:127.0.0.1]`). An internationalized name
/// is compared as A-labels, so `bücher.example` and `xn--bcher-kva.example` are one host.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
  /// The conditions on an origin, apart from the text of its host.
  struct Rule: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      case any, exact, suffix
    }

    let scheme: Origin.Scheme?
    let kind: Kind
    let port: UInt16?
  }

  let rule: Rule
  /// The host to compare with. A suffix has its leading dot; an IPv4-mapped address is stored as the IPv4 address.
  let host: String
  /// The pattern as it was given.
  public let description: String

  /// - Parameter hosts: converts a non-ASCII name; without an encoder such a name is refused.
  public init(_ text: String, hosts: HostEncoder? = nil) throws(MessageError) {
    var rest = text[...]
    var scheme: Origin.Scheme?
    if let separator = text.firstRange(of: "://") {
      scheme = Origin.Scheme(rawValue: text[..<separator.lowerBound].lowercased())
      guard scheme != nil else { throw Self.failure(text, hosts) }
      rest = text[separator.upperBound...]
    }
    if rest.hasPrefix("*."), rest.count > 2 {
      let origin = try Self.parse("x" + rest.dropFirst(), text, hosts)
      // `*.:80` has no name after the star, and would match every host.
      guard origin.host != "x" else { throw Self.failure(text, hosts) }
      self.init(scheme: scheme, .suffix, String(origin.host.dropFirst()), port: Self.port(rest, origin), text)
    } else if rest == "*" || rest.hasPrefix("*:") {
      let origin = try Self.parse("x" + rest.dropFirst(), text, hosts)
      self.init(scheme: scheme, .any, "", port: Self.port(rest, origin), text)
    } else {
      let origin = try Self.parse(String(rest), text, hosts)
      self.init(scheme: scheme, .exact, Rule.host(of: origin), port: Self.port(rest, origin), text)
    }
  }

  /// Whether the host matches, and also the scheme and the port if the pattern names them.
  package func matches(_ origin: Origin) -> Bool { rule.matches(origin, host.utf8.span) }

  private init(scheme: Origin.Scheme?, _ kind: Rule.Kind, _ host: String, port: UInt16?, _ text: String) {
    rule = Rule(scheme: scheme, kind: kind, port: port)
    self.host = host
    description = text
  }

  private static func parse(
    _ authority: String, _ text: String, _ hosts: HostEncoder?
  ) throws(MessageError) -> Origin {
    let isBare = !authority.utf8.contains { "/?#@".utf8.contains($0) } && authority.utf8.last != UInt8(ascii: ":")
    guard isBare, let url = try? HTTPURL("http://" + authority, hosts: hosts) else { throw failure(text, hosts) }
    return url.origin
  }

  private static func port(_ authority: Substring, _ origin: Origin) -> UInt16? {
    let afterAddress = authority.split(separator: "]", omittingEmptySubsequences: false).last ?? authority
    return afterAddress.contains(":") ? origin.port : nil
  }

  private static func failure(_ text: String, _ hosts: HostEncoder?) -> MessageError {
    MessageError(
      .invalidURL, "host \(PlainText.quote(text))",
      "expected an exact host, *.suffix or *, with an optional scheme:// before and :port after it"
        + advice(text, hosts))
  }

  private static func advice(_ text: String, _ hosts: HostEncoder?) -> String {
    if !text.utf8.allSatisfy({ $0 < 0x80 }) { return nameAdvice(text, hosts) }
    if text.utf8.contains(UInt8(ascii: "%")) { return "; an IPv6 zone is not supported" }
    let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
    return colons > 1 && !text.contains("[") && !text.contains("://") ? "; put an IPv6 address in brackets" : ""
  }

  /// The end of the message if the pattern has a non-ASCII name that cannot be converted into A-labels; empty if the
  /// mistake is another one.
  private static func nameAdvice(_ text: String, _ hosts: HostEncoder?) -> String {
    guard let hosts else { return "; write a name beyond ASCII in its xn-- form" }
    let authority = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
    let name = (authority.hasPrefix("*.") ? authority.dropFirst(2) : authority).prefix { $0 != ":" }
    do {
      _ = try hosts.labels(of: String(name))
      return ""
    } catch { return "; the name \(error.reason)" }
  }
}

extension HostPattern.Rule {
  /// - Parameter host: the host of the pattern.
  func matches(_ origin: borrowing Origin, _ host: Span<UInt8>) -> Bool {
    if let scheme, scheme != origin.scheme { return false }
    if let port, port != origin.port { return false }
    let text = origin.host.utf8.span
    let name = text.extracting(Self.mappedPrefixCount(text)..<text.count)
    switch kind {
    case .any: return true
    case .exact: return name.count == host.count && Self.ends(name, host)
    case .suffix: return name.count > host.count && Self.ends(name, host)
    }
  }

  /// The host of an origin in the form for comparison: for an IPv4-mapped address, the IPv4 address.
  static func host(of origin: Origin) -> String {
    String(decoding: origin.host.utf8.dropFirst(mappedPrefixCount(origin.host.utf8.span)), as: UTF8.self)
  }

  /// The length of the `::ffff:` before an IPv4 address in a canonical host; 0 if the host has no `::ffff:`.
  private static func mappedPrefixCount(_ host: Span<UInt8>) -> Int {
    guard host.count >= 14, host[0] == UInt8(ascii: ":") else { return 0 }
    for (index, byte) in "::ffff:".utf8.enumerated() where host[index] != byte { return 0 }
    for index in 7..<host.count where host[index] == UInt8(ascii: ".") { return 7 }
    return 0
  }

  /// Whether the name ends with the suffix. The name must not be shorter than the suffix.
  private static func ends(_ name: Span<UInt8>, _ suffix: Span<UInt8>) -> Bool {
    let start = name.count - suffix.count
    for index in suffix.indices where name[start + index] != suffix[index] { return false }
    return true
  }
}
