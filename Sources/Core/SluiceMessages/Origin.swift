/// Scheme, host and port, which decide whether two URLs belong to the same party (RFC 6454 §4).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  /// The schemes that a URL may have; the raw value is the text before `://`, in lower case.
  public enum Scheme: String, Sendable, Hashable {
    case http, https

    /// The port of a URL that names none.
    package var defaultPort: UInt16 { self == .http ? 80 : 443 }
  }

  /// The scheme. It is part of the origin: `http` and `https` on one host and port are two origins.
  public var scheme: Scheme
  /// The host in lower case and without a final dot. An IPv6 address has no brackets and is in its canonical form (RFC
  /// 5952). A non-ASCII name is in A-labels.
  public var host: String
  /// The port in use; the scheme's default if the URL named none.
  public var port: UInt16
  /// Whether the URL has a final dot after the name: then the name is looked up as it is, and no search domain of the
  /// system is added to it. Origins with and without the dot are equal.
  package private(set) var hasFinalDot = false

  /// Does not convert `host`; the caller must pass it in the form of ``host``. Without a port, the scheme's default
  /// is used.
  package init(scheme: Scheme, host: String, port: UInt16? = nil, hasFinalDot: Bool = false) {
    self.scheme = scheme
    self.host = host
    self.port = port ?? scheme.defaultPort
    self.hasFinalDot = hasFinalDot
  }

  /// The host as it is looked up: ``host``, with the final dot if the URL has one.
  package var lookUpName: String { hasFinalDot ? host + "." : host }

  /// Compares scheme, host and port.
  public static func == (left: Origin, right: Origin) -> Bool {
    left.scheme == right.scheme && left.port == right.port && left.host == right.host
  }

  /// Hashes scheme, host and port.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(scheme)
    hasher.combine(host)
    hasher.combine(port)
  }

  /// The origin as a URL without a path, and without the port if it is the scheme's default.
  public var description: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == scheme.defaultPort ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
  }
}
