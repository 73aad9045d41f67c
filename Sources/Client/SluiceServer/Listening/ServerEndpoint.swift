/// Where a server listens.
public struct ServerEndpoint: Sendable, Equatable, CustomStringConvertible {
  enum Form: Sendable, Equatable {
    case tcp(host: String, port: UInt16)
    case unix(path: String)
  }

  let form: Form

  /// A TCP port; 0 takes any free port. The host is an IPv4 or IPv6 literal without brackets, or a local name.
  public static func tcp(host: String = "127.0.0.1", port: UInt16 = 0) -> Self {
    Self(form: .tcp(host: host, port: port))
  }

  /// A Unix socket that only the user of this process can use (mode 0600). A socket without a listener is replaced, and
  /// the file is removed when the server stops. The folder must exist, and other users must not be able to rename files
  /// in it.
  public static func unix(path: String) -> Self { Self(form: .unix(path: path)) }

  /// 0 for a Unix socket.
  package var port: UInt16 {
    switch form {
    case .tcp(_, let port): port
    case .unix: 0
    }
  }

  /// Checks whether a server could listen here now, and changes nothing.
  package func check() throws(ServerError) {
    switch form {
    case .tcp(let host, let port): try ListeningSocket.check(self, host, port)
    case .unix(let path): try UnixSocketFile.check(path)
    }
  }

  /// Host and port as in a URL, or the path.
  public var description: String {
    switch form {
    case .unix(let path): path
    case .tcp(let host, let port): SocketAddress.join(host: host, port: port)
    }
  }
}
