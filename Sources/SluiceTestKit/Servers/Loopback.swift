import Glibc

/// Addresses and ports of this machine.
public enum Loopback {
  static let socketType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

  /// A port that was free a moment ago, for programs that cannot report the one they chose. Somebody else may take
  /// it before they do, so the caller tries again when that happens.
  public static func freePort() throws -> UInt16 {
    try ListeningSocket(port: 0).port
  }

  static func withAddress<Result>(
    _ host: String, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
  ) throws -> Result {
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &found)
    guard status == 0, let found, let address = found.pointee.ai_addr else {
      throw TestKitError("\(host): \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(found) }
    return try body(address, found.pointee.ai_addrlen)
  }
}
