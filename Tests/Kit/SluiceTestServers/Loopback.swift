import Glibc
import SluiceSupport
import SluiceTestKit

/// Addresses and ports of this machine.
package enum Loopback {
  static let socketType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

  /// A port on which no program listened a moment ago, for programs that cannot report the port that they chose.
  /// No two calls in this process return the same port.
  ///
  /// The port is below the ports that the kernel chooses by itself. So only another process that calls this function
  /// can take the port first, on 127.0.0.1 or on `::1`. If this happens, the caller must try again.
  package static func freePort() throws -> UInt16 {
    for _ in 0..<100 {
      let port = candidates.withLock { $0.next() }
      if (try? ListeningSocket(port: port)) != nil { return port }
    }
    throw TestKitError("no free port from \(candidates.withLock(\.range))")
  }

  private static let candidates = Locked(PortCycle())

  /// The port that a socket is bound to.
  static func port(of socket: SluiceTestKit.FileDescriptor) -> UInt16 {
    var bound = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutableBytes(of: &bound) { bytes in
      getsockname(socket.number, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
    }
    return UInt16(bigEndian: bound.sin_port)
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

/// Gives the ports below those that the kernel chooses, in order, beginning at a random port.
private struct PortCycle {
  let range: Range<UInt16>
  private var port: UInt16

  init() {
    let text = (try? FileTree.readText("/proc/sys/net/ipv4/ip_local_port_range")) ?? ""
    let first = text.split(whereSeparator: \.isWhitespace).first.flatMap { UInt16($0) } ?? 32768
    range = first / 3..<max(first, 2)
    port = UInt16.random(in: range)
  }

  mutating func next() -> UInt16 {
    defer { port = port + 1 < range.upperBound ? port + 1 : range.lowerBound }
    return port
  }
}
