import SluiceMessages
import SluicePipeline
import SluiceSupport

/// A connection to one origin that carries transfers. Only the loop uses it.
class HTTPConnection: SocketEndpoint {
  let channel: Channel
  let pool: OriginPool
  // There is no lasting reference cycle, because the transport releases its connections when the loop ends.
  let transport: HTTPTransport
  let peerAddress: String
  let dialTimes: Dial.Times
  private let id = ConnectionFacts.newID()

  /// The number of requests that were issued on this connection.
  final var requestCount = 0
  /// Whether this connection is in the transport's list of connections to read from.
  final var isUnread = false
  /// Whether the peer has closed its side or the connection is broken. Reading continues until a read returns the end
  /// or the error.
  final var hasHungUp = false

  /// Whether this connection counts as one of the transport's idle connections.
  final var isIdle = false
  final var idleSince = Instant(nanoseconds: 0)

  init(_ channel: Channel, _ pool: OriginPool, _ peerAddress: String, _ dialTimes: Dial.Times) {
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

  /// Sends the request of a transfer. Returns false if the request was not sent and the transfer has ended; the
  /// connection is then unchanged.
  func issue(_ transfer: HTTPTransfer) -> Bool { false }

  /// Detaches a transfer that ends before its exchange is complete.
  func abandon(_ transfer: HTTPTransfer) {}

  /// Continues reading and sending, even if the descriptor does not become ready again.
  func readOn() {}

  /// Called when the transfer can take more of its response, or may have more to send.
  func readOn(for transfer: HTTPTransfer) {}

  /// Called when the producer of a request body has more data.
  func resumeSending(for transfer: HTTPTransfer) {}

  /// Called when the server wants the body of the request, or has not answered the `Expect` in time.
  func sendBody(of transfer: HTTPTransfer) {}

  /// Closes the socket. The caller must end the transfers on it.
  func close() {}

  /// Closes a connection that carries no transfer.
  func closeIdle() { close() }
}
