import CLinux
import Glibc
import SluiceServer
import Synchronization

/// The engine's side of the endpoint. It takes the listening socket from the supervisor, and sends the supervisor a
/// duplicate of each connection whose request goes into the engine. The supervisor can then answer the client if this
/// process crashes. Can be used on any thread.
final class ClientNotices: Sendable {
  /// The descriptor that the process inherits at its start.
  static let inheritedDescriptor: Int32 = 3

  private let socket: Int32
  private let lastID = Atomic<UInt64>(0)

  /// - Parameter socket: the child's end of the supervisor's socket pair; this object takes ownership.
  init(owning socket: Int32) {
    self.socket = socket
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(socket) }

  /// The listening socket, which the supervisor sent before it started this process; nil if it sent none.
  func takeListener() -> SharedListener? {
    var byte: UInt8 = 0
    var descriptor: Int32 = -1
    // The supervisor sent the packet before it started this process, so the packet can be read at once.
    var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, 1000) > 0, sluice_receive_packet(socket, &byte, 1, &descriptor) == 1, descriptor >= 0 else {
      return nil
    }
    return SharedListener(adopting: descriptor)
  }

  /// Must be called before any work on the request. After it returns, the supervisor answers the client if this process
  /// crashes.
  func began(_ connection: Int32, isHead: Bool) -> UInt64 {
    let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
    send(ClientPacket(kind: .began, id: id, isHead: isHead), connection)
    return id
  }

  /// Must be called before the first byte of the response is written.
  func answered(_ id: UInt64) { send(ClientPacket(kind: .answered, id: id), -1) }

  /// Sends a packet without waiting. If the supervisor does not read fast enough, the packet is lost. If the engine's
  /// process crashes then, the supervisor cannot answer the client, and the client sees a closed connection.
  private func send(_ packet: ClientPacket, _ descriptor: Int32) {
    let bytes = packet.bytes
    _ = sluice_send_packet(socket, bytes, bytes.count, descriptor)
  }
}
