/// Where a server listens.
public struct ServerEndpoint: Sendable, Equatable, CustomStringConvertible {
  enum Form: Sendable, Equatable {
    case tcp(host: String, port: UInt16)
  }

  let form: Form

  /// A TCP port; 0 takes any free one. The host is an IPv4 or IPv6 literal without brackets, or a local name.
  public static func tcp(host: String = "127.0.0.1", port: UInt16 = 0) -> Self {
    Self(form: .tcp(host: host, port: port))
  }

  /// Host and port as they stand in a URL.
  public var description: String {
    switch form {
    case .tcp(let host, let port): SocketAddress.join(host: host, port: port)
    }
  }
}
