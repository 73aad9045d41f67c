import CLinux
import SluicePipeline

/// A socket that is connecting to one address.
final class ConnectAttempt: SocketEndpoint {
  let socket: StreamSocket
  let address: SocketAddress
  let beganAt: Instant
  private unowned(unsafe) let dial: Dial

  init(_ socket: StreamSocket, _ address: SocketAddress, _ dial: Dial, at now: Instant) {
    self.socket = socket
    self.address = address
    self.dial = dial
    beganAt = now
  }

  override func isReady(_ events: UInt32) {
    let isDone = events & (EPOLLOUT.rawValue | EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
    if isDone { dial.attemptIsReady(self, events) }
  }

  func close() {
    dial.pool.transport.remove(socket.descriptor)
    socket.close()
  }
}
