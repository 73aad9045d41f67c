/// Scheme, host and port, which decide whether two URLs belong to the same party (RFC 6454 §4).
public struct Origin: Sendable, Hashable, CustomStringConvertible {
  public enum Scheme: String, Sendable, Hashable {
    case http, https

    /// The port that a URL without one means.
    public var defaultPort: UInt16 { self == .http ? 80 : 443 }
  }

  public var scheme: Scheme
  /// In lower case and without a final dot; an IPv6 address without brackets and in its canonical form (RFC 5952); a name
  /// beyond ASCII in A-labels.
  public var host: String
  public var port: UInt16

  public init(scheme: Scheme, host: String, port: UInt16? = nil) {
    self.scheme = scheme
    self.host = host
    self.port = port ?? scheme.defaultPort
  }

  /// The origin as a URL without a path, and without the port if it is the scheme's default.
  public var description: String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == scheme.defaultPort ? "\(scheme)://\(name)" : "\(scheme)://\(name):\(port)"
  }
}
