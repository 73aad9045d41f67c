import Glibc

/// A listening descriptor, which is closed with this object. The socket stays open as long as a duplicate of the
/// descriptor is open.
struct ListeningSocket: ~Copyable {
  let descriptor: Int32
  /// The address with the port that the system chose.
  let endpoint: ServerEndpoint
  /// The file of a Unix socket. The file is not removed with this object, because the server that owns the file can
  /// outlive this object.
  let file: UnixSocketFile?

  /// - Parameter isShared: whether further sockets of this process can listen on the same port, among which the system
  ///   distributes the connections (SO_REUSEPORT, socket(7)). Without effect for a Unix socket.
  init(on endpoint: ServerEndpoint, backlog: Int32, isShared: Bool = false) throws(ServerError) {
    switch endpoint.form {
    case .tcp(let host, let port):
      descriptor = try Self.open(endpoint, host, port, backlog, isShared)
      self.endpoint = .tcp(host: host, port: Self.endpoint(of: descriptor)?.port ?? port)
      file = nil
    case .unix(let path):
      (descriptor, file) = try UnixSocketFile.listen(at: path, backlog)
      self.endpoint = endpoint
    }
  }

  /// Takes ownership of a socket that listens already. Nil if it is no such socket.
  init?(adopting descriptor: Int32) {
    guard let endpoint = Self.endpoint(of: descriptor) else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    self.descriptor = descriptor
    self.endpoint = endpoint
    file = nil
  }

  deinit { close(descriptor) }

  /// Returns another descriptor of the same socket, which the caller must close, or nil if no descriptor is left.
  func duplicate() -> Int32? {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    return copy >= 0 ? copy : nil
  }

  /// Checks whether a socket could listen here now. Does not listen, because a client that connected meanwhile would be
  /// reset.
  static func check(_ endpoint: ServerEndpoint, _ host: String, _ port: UInt16) throws(ServerError) {
    close(try open(endpoint, host, port, nil, false))
  }

  /// - Parameter backlog: nil binds a socket that does not listen. Binding fails too if another socket listens there.
  private static func open(
    _ endpoint: ServerEndpoint, _ host: String, _ port: UInt16, _ backlog: Int32?, _ isShared: Bool
  ) throws(ServerError) -> Int32 {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0, let address = found else {
      throw ServerError(.addressUnknown, endpoint, underlying: String(cString: gai_strerror(status)))
    }
    defer { freeaddrinfo(found) }
    return try listen(endpoint, at: address.pointee, backlog, isShared)
  }

  private static func listen(
    _ endpoint: ServerEndpoint, at address: addrinfo, _ backlog: Int32?, _ isShared: Bool
  ) throws(ServerError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.ai_family, type, 0)
    guard descriptor >= 0 else { throw ServerError(errorNumber: errno, endpoint) }
    var yes: Int32 = 1
    // A restarted server must not wait until the connections of the previous server leave TIME_WAIT.
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    if isShared { setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, socklen_t(MemoryLayout<Int32>.size)) }
    guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0,
      backlog.map({ Glibc.listen(descriptor, $0) == 0 }) ?? true
    else {
      let error = ServerError(errorNumber: errno, endpoint)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Where a socket listens. Nil if it does not listen, or not for streams.
  private static func endpoint(of descriptor: Int32) -> ServerEndpoint? {
    guard option(SO_ACCEPTCONN, of: descriptor) == 1,
      option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue)
    else { return nil }
    var storage = sockaddr_storage()
    return withUnsafeMutablePointer(to: &storage) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        guard getsockname(descriptor, address, &length) == 0 else { return nil }
        if let (host, port) = SocketAddress.parts(of: address) { return .tcp(host: host, port: port) }
        return SocketAddress.path(of: address, length).map { .unix(path: $0) }
      }
    }
  }

  private static func option(_ option: Int32, of descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 ? value : nil
  }
}
