import CLinux
import Glibc
import SluiceSupport

/// The clients whose requests an engine's process is handling. The supervisor holds their connections too. If the
/// process ends without an answer, the supervisor can answer in its place. Can be used on any thread.
final class HeldClients: Sendable {
  private struct Client {
    let descriptor: Int32
    let isHead: Bool
  }

  private struct State {
    var clients: [UInt64: Client] = [:]
    var isOver = false
  }

  private let state = Monitor(State())

  /// - Parameter socket: the supervisor's end of the socket pair; this object takes ownership.
  init(owning socket: Int32) throws(CommandError) {
    do throws(CommandError) {
      try SystemThread.begin("sluice-clients") { [state] in
        Self.read(socket, state)
        close(socket)
        state.update { $0.isOver = true }
      }.detach()
    } catch {
      close(socket)
      throw error
    }
  }

  deinit { for client in state.withLock({ $0.clients.values }) { close(client.descriptor) } }

  private static func read(_ socket: Int32, _ state: Monitor<State>) {
    var bytes = [UInt8](repeating: 0, count: ClientPacket.byteCount)
    while true {
      var descriptor: Int32 = -1
      let count = sluice_receive_packet(socket, &bytes, bytes.count, &descriptor)
      guard count > 0 else { return }
      guard let packet = ClientPacket(bytes[..<count]) else {
        if descriptor >= 0 { close(descriptor) }
        continue
      }
      note(packet, descriptor, state)
    }
  }

  private static func note(_ packet: ClientPacket, _ descriptor: Int32, _ state: Monitor<State>) {
    let old = state.withLock { state in
      guard packet.kind == .began, descriptor >= 0 else {
        return [state.clients.removeValue(forKey: packet.id)?.descriptor, descriptor]
      }
      return [
        state.clients.updateValue(Client(descriptor: descriptor, isHead: packet.isHead), forKey: packet.id)?.descriptor
      ]
    }
    for descriptor in old.compactMap(\.self) where descriptor >= 0 { close(descriptor) }
  }

  /// Answers all clients with 502. Must be called after the process has ended.
  /// - Parameter body: a JSON document.
  /// - Returns: how many clients there were.
  @discardableResult
  func giveUp(_ body: [UInt8]) -> Int {
    // Waits until all packets of the ended process have been read. The wait is bounded, because a descendant of that
    // process can still run and keep the socket open.
    let _: Void? = state.wait(upTo: .seconds(1)) { $0.isOver ? () : nil }
    let clients = state.withLock { state in
      defer { state.clients = [:] }
      return state.clients.values.map(\.self)
    }
    for client in clients {
      Self.answer(client, body)
      close(client.descriptor)
    }
    return clients.count
  }

  /// Does not block, because nothing has been written to the connection yet, so its send buffer is empty.
  private static func answer(_ client: Client, _ body: [UInt8]) {
    let head = """
      HTTP/1.1 502 Bad Gateway\r
      Content-Type: application/json\r
      Content-Length: \(body.count)\r
      Connection: close\r
      \r

      """
    let bytes = Array(head.utf8) + (client.isHead ? [] : body)
    _ = write(client.descriptor, bytes, bytes.count)
    shutdown(client.descriptor, sluice_shutdown_sending)
  }
}
