/// A host that a list allows: `api.example.com`, `*.example.com`, or `*` for every host.
///
/// `*.example.com` matches every name below `example.com` at any depth and not `example.com` itself. A scheme and a port
/// may be given (`https://api.example.com:8443`); what is given must match, and nothing but the parsed origin is looked at.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
  /// What is asked of an origin, apart from the text of its host.
  struct Rule: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
      case any, exact, suffix
    }

    let scheme: Origin.Scheme?
    let kind: Kind
    let port: UInt16?
  }

  let rule: Rule
  /// That of a suffix has its leading dot.
  let host: String
  public let description: String

  public init(_ text: String) throws(MessageError) {
    var rest = text[...]
    var scheme: Origin.Scheme?
    if let separator = text.firstRange(of: "://") {
      scheme = Origin.Scheme(rawValue: text[..<separator.lowerBound].lowercased())
      guard scheme != nil else { throw Self.failure(text) }
      rest = text[separator.upperBound...]
    }
    if rest.hasPrefix("*."), rest.count > 2 {
      let origin = try Self.parse("x" + rest.dropFirst(), text)
      self.init(scheme: scheme, .suffix, String(origin.host.dropFirst()), port: Self.port(rest, origin), text)
    } else if rest == "*" {
      self.init(scheme: scheme, .any, "", port: nil, text)
    } else {
      let origin = try Self.parse(String(rest), text)
      self.init(scheme: scheme, .exact, origin.host, port: Self.port(rest, origin), text)
    }
  }

  public func matches(_ origin: Origin) -> Bool { rule.matches(origin, host.utf8.span) }

  private init(scheme: Origin.Scheme?, _ kind: Rule.Kind, _ host: String, port: UInt16?, _ text: String) {
    rule = Rule(scheme: scheme, kind: kind, port: port)
    self.host = host
    description = text
  }

  private static func parse(_ authority: String, _ text: String) throws(MessageError) -> Origin {
    let isBare = !authority.contains { "/?#@".contains($0) } && authority.last != ":"
    guard isBare, let url = try? HTTPURL("http://" + authority) else { throw failure(text) }
    return url.origin
  }

  private static func port(_ authority: Substring, _ origin: Origin) -> UInt16? {
    let afterAddress = authority.split(separator: "]", omittingEmptySubsequences: false).last ?? authority
    return afterAddress.contains(":") ? origin.port : nil
  }

  private static func failure(_ text: String) -> MessageError {
    MessageError(
      .invalidURL, "host \"\(HeaderFields.printable(text.utf8.span))\"",
      "expected an exact host, *.suffix or *, with an optional scheme:// before and :port after it")
  }
}

extension HostPattern.Rule {
  /// - Parameter host: that of the pattern.
  func matches(_ origin: borrowing Origin, _ host: Span<UInt8>) -> Bool {
    if let scheme, scheme != origin.scheme { return false }
    if let port, port != origin.port { return false }
    let name = origin.host.utf8.span
    switch kind {
    case .any: return true
    case .exact: return name.count == host.count && Self.ends(name, host)
    case .suffix: return name.count > host.count && Self.ends(name, host)
    }
  }

  /// Whether the name ends so; must not be the shorter of the two.
  private static func ends(_ name: Span<UInt8>, _ suffix: Span<UInt8>) -> Bool {
    let start = name.count - suffix.count
    for index in suffix.indices where name[start + index] != suffix[index] { return false }
    return true
  }
}
