import Glibc
import SluiceTestKit

/// A connected TCP or Unix socket with blocking reads and writes that fail after a time limit.
package final class StreamSocket: Sendable {
  private let descriptor: FileDescriptor

  init(adopting descriptor: Int32, limit: Duration) {
    self.descriptor = FileDescriptor(adopting: descriptor)
    var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
    set(SOL_SOCKET, SO_RCVTIMEO, &time)
    set(SOL_SOCKET, SO_SNDTIMEO, &time)
    var yes: Int32 = 1
    set(Int32(IPPROTO_TCP), TCP_NODELAY, &yes)
  }

  /// Connects to a literal address; fails at once if nothing listens there.
  package static func connect(host: String = "127.0.0.1", port: UInt16, limit: Duration = Patience.limit) throws
    -> StreamSocket
  {
    let descriptor = try Loopback.withAddress(host, port) { address, length in
      let descriptor = socket(Int32(address.pointee.sa_family), Loopback.socketType, 0)
      guard descriptor >= 0 else { throw TestKitError.system("socket") }
      guard Glibc.connect(descriptor, address, length) == 0 else {
        let error = TestKitError.system("connect to \(host) port \(port)")
        Glibc.close(descriptor)
        throw error
      }
      return descriptor
    }
    return StreamSocket(adopting: descriptor, limit: limit)
  }

  /// Connects to a Unix socket; fails at once if nothing listens there.
  package static func connect(unixSocket path: String, limit: Duration = Patience.limit) throws -> StreamSocket {
    let descriptor = socket(AF_UNIX, Loopback.socketType, 0)
    guard descriptor >= 0 else { throw TestKitError.system("socket") }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else {
      let error = TestKitError.system("connect to \(path)")
      Glibc.close(descriptor)
      throw error
    }
    return StreamSocket(adopting: descriptor, limit: limit)
  }

  /// Blocks until some bytes have arrived, and returns them. Returns an empty array at the end of the stream.
  package func read(upTo count: Int = 65536) throws -> [UInt8] {
    try descriptor.read(upTo: count)
  }

  package func write(_ bytes: [UInt8]) throws {
    StandardSignals.ignoreBrokenPipes()
    try descriptor.write(bytes)
  }

  /// Ends this side's stream; the other side can still send.
  package func shutdownWriting() {
    descriptor.ifOpen { shutdown($0, Int32(SHUT_WR)) }
  }

  /// Ends both streams, which wakes a thread that blocks in `read`.
  func shutdownBoth() {
    descriptor.ifOpen { shutdown($0, Int32(SHUT_RDWR)) }
  }

  package func close() {
    descriptor.close()
  }

  /// Closes with RST instead of FIN, and drops bytes that were not sent yet.
  package func reset() {
    var lingering = linger(l_onoff: 1, l_linger: 0)
    descriptor.ifOpen {
      setsockopt($0, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
    }
    descriptor.close()
  }

  private func set<Value: BitwiseCopyable>(_ level: Int32, _ name: Int32, _ value: inout Value) {
    setsockopt(descriptor.number, level, name, &value, socklen_t(MemoryLayout<Value>.size))
  }
}
