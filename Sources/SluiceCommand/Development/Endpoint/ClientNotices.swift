import CLinux
import Glibc
import SluiceServer
import Synchronization

/// The engine's side of the endpoint: takes the listening socket from the supervisor, and hands it a duplicate of each connection
/// whose request goes into the engine. So the supervisor can answer when this process cannot any more. From any thread.
final class ClientNotices: Sendable {
  /// What the process is started with.
  static let inheritedDescriptor: Int32 = 3

  private let socket: Int32
  private let lastID = Atomic<UInt64>(0)

  /// - Parameter socket: the child's end of the supervisor's pair; owned from here on.
  init(owning socket: Int32) {
    self.socket = socket
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(socket) }

  /// The listening socket, which the supervisor has sent before the process began; nil where it has not.
  func takeListener(at endpoint: ServerEndpoint) -> SharedListener? {
    var byte: UInt8 = 0
    var descriptor: Int32 = -1
    // It was sent before this process was started.
    var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, 1000) > 0, sluice_receive_packet(socket, &byte, 1, &descriptor) == 1, descriptor >= 0 else {
      return nil
    }
    return SharedListener(adopting: descriptor, at: endpoint)
  }

  /// Told before anything is done about the request: when this returns, a crash is the supervisor's to answer.
  func began(_ connection: Int32, isHead: Bool) -> UInt64 {
    let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
    send(ClientPacket(kind: .began, id: id, isHead: isHead), connection)
    return id
  }

  /// Told before the first byte of the response is written.
  func answered(_ id: UInt64) { send(ClientPacket(kind: .answered, id: id), -1) }

  /// A supervisor that does not keep up goes without: it then answers nothing, and the client sees a closed connection.
  private func send(_ packet: ClientPacket, _ descriptor: Int32) {
    let bytes = packet.bytes
    _ = sluice_send_packet(socket, bytes, bytes.count, descriptor)
  }
}
