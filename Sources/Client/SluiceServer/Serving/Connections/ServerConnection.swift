import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTransport

/// A connection of a client. Only its loop uses it.
///
/// The subclasses are its states: ``ServerOpening`` until it is known what the client speaks, and then
/// ``HTTP1ServerConnection`` or ``HTTP2ServerConnection``.
class ServerConnection {
  let channel: Channel
  let port: ServerPort
  /// Whether the port has this connection in its list of connections that read on, or that send, at the end of the turn.
  final var isUnread = false
  final var isUnflushed = false
  /// What the handler keeps for all requests of the connection.
  final var memo: AnyObject?
  private var client: ConnectionFacts?
  /// Whether another object has the socket, or the socket is closed.
  private var isGone = false

  init(_ channel: Channel, _ port: ServerPort) { (self.channel, self.port) = (channel, port) }

  deinit { if !isGone { channel.socket.close() } }

  final var descriptor: Int32 { channel.socket.descriptor }

  /// When the current turn of the loop has begun.
  final var now: Instant { port.loop.turnBegan }

  /// What is known about the connection on which a request of this version has arrived.
  final func client(_ version: HTTPVersion) -> ConnectionFacts {
    var facts = client ?? makeFacts()
    let isReused = client != nil
    if facts.version != version { facts.version = version }
    if facts.isReused != isReused { facts.isReused = isReused }
    client = facts
    return facts
  }

  private func makeFacts() -> ConnectionFacts {
    var facts = channel.facts
    facts.id = ConnectionFacts.newID()
    facts.peer = facts.peer?.canonical
    facts.local = facts.local?.canonical
    return facts
  }

  /// The system has reported events of the socket.
  func isReady(_ events: UInt32) {}

  /// Reads what has arrived.
  func readOn() {}

  /// Sends what is to be sent, unless a call further up the stack does so.
  func flushUnlessBusy() {}

  /// Called regularly. Ends a wait whose time has passed.
  func check(at now: Instant) {}

  /// The server ends when the requests in flight are answered.
  func drain() {}

  /// Ends the connection at once.
  func end() {}

  /// Lets another object serve the client.
  final func hand(over connection: ServerConnection) {
    isGone = true
    port.replace(self, by: connection)
  }

  /// Closes the socket, and takes the connection from the port.
  /// - Parameter isAbort: whether the client gets a reset instead of the end of the stream.
  final func remove(isAbort: Bool) {
    guard !isGone else { return }
    isGone = true
    port.didClose(self)
    guard isAbort else { return channel.close() }
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    // Without TLS's own end, which would say that everything was sent.
    channel.socket.close()
  }
}
