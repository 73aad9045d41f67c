import Glibc
import SluiceTestKit

/// A listening socket on 127.0.0.1 whose backlog is full, so that further connections hang.
package final class FullListener: Sendable {
  package let port: UInt16
  private let descriptors: [FileDescriptor]

  package init() throws {
    let listener = FileDescriptor(adopting: socket(AF_INET, Loopback.socketType, 0))
    try Loopback.withAddress("127.0.0.1", 0) { address, length in
      guard bind(listener.number, address, length) == 0, listen(listener.number, 0) == 0 else {
        throw TestKitError.system("listen")
      }
    }
    let port = Loopback.port(of: listener)
    let fillers = try (0..<4).map { _ in
      let filler = FileDescriptor(
        adopting: socket(AF_INET, Loopback.socketType | Int32(SOCK_NONBLOCK.rawValue), 0))
      // These connections fill the backlog. The kernel accepts some of them; the others are never established.
      try Loopback.withAddress("127.0.0.1", port) { _ = connect(filler.number, $0, $1) }
      return filler
    }
    self.port = port
    descriptors = [listener] + fillers
  }
}
