import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline

/// The facts about one hop that an archive contains: the request that the transport was given, and the response.
struct ArchivedHop: Sendable {
  /// Identifies the hop: its request, attempt and number.
  struct Identity: Sendable {
    let requestID: String
    let attempt: Int
    let hop: Int

    init(_ exchange: Exchange) {
      requestID = exchange.requestID
      attempt = exchange.attempt
      hop = exchange.hop
    }
  }

  /// The time at which the transport was asked to send the request, since 1970-01-01T00:00:00Z.
  var began: Duration
  var identity: Identity
  /// Without its body.
  var request: Request
  var requestBody: BodySample
  /// The bytes of the request's head as they were written; nil if no head was written.
  var sentHead: [UInt8]?
  /// The response as the server sent it, without its body; nil if no head arrived.
  var response: Response?
  var responseBody = BodySample()
  var timings = TransferTimings()
  var connection: ConnectionFacts?
  /// Why the hop failed.
  var error: TransactionError?

  /// A hop of which nothing was sent. [loop]
  init(unsent event: TraceEvent) {
    let request = event.exchange.requestForms.native
    self.init(request, began: UniversalTime.now - event.duration, identity: Identity(event.exchange))
    take(event)
  }

  init(_ request: Request, began: Duration, identity: Identity) {
    self.began = began
    self.identity = identity
    self.request = request
    requestBody = BodySample(request.body)
    self.request.body = .empty
  }

  /// Adds what the hop's last event reports. [loop]
  mutating func take(_ event: TraceEvent) {
    timings = event.timings ?? timings
    connection = event.exchange.connection ?? connection
    error = event.error
    if error != nil, response != nil { responseBody.gap = "incomplete, because the hop failed" }
  }

  /// Roughly how much memory this value holds.
  var heldBytes: Int { 2048 + (sentHead?.count ?? 0) + requestBody.heldBytes + responseBody.heldBytes }
}
