import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// A connection to one origin that carries transfers. Confined to the loop.
class HTTPConnection: WireEndpoint {
  let channel: WireChannel
  let pool: OriginPool
  // The transport releases its connections when the loop ends.
  let transport: WireTransport
  let peerAddress: String
  let dialTimes: Dial.Times
  private let id = HTTPConnection.ids.add(1, ordering: .relaxed).newValue
  private static let ids = Atomic<UInt64>(0)

  /// The number of requests that were issued here.
  final var requestCount = 0
  /// Whether it is in the transport's list of connections to read from.
  final var isUnread = false
  /// The peer has closed its side, or the connection is broken: reading continues until that shows.
  final var hasHungUp = false

  /// Whether it counts among the transport's idle connections.
  final var isIdle = false
  final var idleSince = Instant(nanoseconds: 0)

  init(_ channel: WireChannel, _ pool: OriginPool, _ peerAddress: String, _ dialTimes: Dial.Times) {
    self.channel = channel
    self.pool = pool
    transport = pool.transport
    self.peerAddress = peerAddress
    self.dialTimes = dialTimes
  }

  final var facts: ConnectionFacts {
    var facts = channel.facts
    facts.id = id
    facts.isReused = requestCount > 1
    return facts
  }

  /// Sends the request of a transfer. Returns false if the transfer no longer wants that; the connection is then
  /// unchanged.
  func issue(_ transfer: WireTransfer) -> Bool { false }

  /// The transfer ends before its exchange is complete.
  func abandon(_ transfer: WireTransfer) {}

  /// Continues where reading or sending has stopped, although the descriptor may not become ready again.
  func readOn() {}

  /// The transfer can take more of its response, or may have more to send.
  func readOn(for transfer: WireTransfer) {}

  /// The producer of a request body has more.
  func resumeSending(for transfer: WireTransfer) {}

  /// The server wants the body of the request, or has not answered the `Expect` in time.
  func sendBody(of transfer: WireTransfer) {}

  /// Closes the socket; transfers on it have to be ended by the caller.
  func close() {}
}
