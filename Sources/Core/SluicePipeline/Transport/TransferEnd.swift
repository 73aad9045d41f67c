package import SluiceMessages

/// How a hop ended.
package struct TransferEnd: Sendable {
  /// Nil when the whole response arrived.
  package var error: TransportError?
  /// The collected body; ``Body/empty`` if it was streamed or discarded.
  package var body: Body
  /// Nil if there are no trailers.
  package var trailers: HeaderFields?
  package var timings: TransferTimings
  /// The connection facts; nil unless they are wanted (``TransferOptions/collectsConnection``).
  package var connection: ConnectionFacts?

  package init(
    error: TransportError? = nil, body: Body = .empty, trailers: HeaderFields? = nil,
    timings: TransferTimings = TransferTimings(), connection: ConnectionFacts? = nil
  ) {
    self.error = error
    self.body = body
    self.trailers = trailers
    self.timings = timings
    self.connection = connection
  }

  /// Moves the body out.
  mutating func takeBody() -> Body {
    var taken = Body.empty
    swap(&taken, &body)
    return taken
  }
}
