/// A host that a list allows: `api.example.com`, `*.example.com`, or `*` for every host.
///
/// `*.example.com` matches every name below `example.com` at any depth and not `example.com` itself. A scheme and a port
/// may be given (`https://api.example.com:8443`); what is given must match, and nothing but the parsed origin is looked at.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
  @usableFromInline
  enum Kind: Sendable, Hashable {
    case any, exact, suffix
  }

  @usableFromInline let scheme: Origin.Scheme?
  @usableFromInline let kind: Kind
  /// Apart from the kind, so that it is compared where it is; that of a suffix has its leading dot.
  @usableFromInline let host: String
  @usableFromInline let port: UInt16?
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

  /// Inlined, so that a pattern in a list is not copied for it.
  @inlinable
  public func matches(_ origin: Origin) -> Bool {
    if let scheme, scheme != origin.scheme { return false }
    if let port, port != origin.port { return false }
    return switch kind {
    case .any: true
    case .exact: host == origin.host
    case .suffix: origin.host.hasSuffix(host) && origin.host.utf8.count > host.utf8.count
    }
  }

  private init(scheme: Origin.Scheme?, _ kind: Kind, _ host: String, port: UInt16?, _ text: String) {
    self.scheme = scheme
    self.kind = kind
    self.host = host
    self.port = port
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
