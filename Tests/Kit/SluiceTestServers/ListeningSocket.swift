import CTestKit
import Glibc
import SluiceTestKit

/// A listening socket on 127.0.0.1.
final class ListeningSocket: Sendable {
  let port: UInt16
  private let descriptor: FileDescriptor

  init(port: UInt16 = 0) throws {
    let descriptor = FileDescriptor(adopting: socket(AF_INET, Loopback.socketType, 0))
    var yes: Int32 = 1
    setsockopt(descriptor.number, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    try Loopback.withAddress("127.0.0.1", port) { address, length in
      guard bind(descriptor.number, address, length) == 0, listen(descriptor.number, 1024) == 0 else {
        throw TestKitError.system("listen on port \(port)")
      }
    }
    self.port = Loopback.port(of: descriptor)
    self.descriptor = descriptor
  }

  /// Blocks until a connection waits to be accepted, or `stop` was called.
  func waitForConnection() {
    var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, -1) < 0, errno == EINTR {}
  }

  /// Whether a connection waits to be accepted.
  var hasConnection: Bool {
    var entry = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) == 0
  }

  /// Blocks until a client connects. Returns nil after `stop` was called.
  func accept(limit: Duration) -> StreamSocket? {
    while true {
      let connection = sluice_test_accept(descriptor.number)
      if connection >= 0 { return StreamSocket(adopting: connection, limit: limit) }
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
  }

  /// Wakes `accept`; the port stays in use until this object is released.
  func stop() {
    shutdown(descriptor.number, Int32(SHUT_RDWR))
  }
}
