public import SluiceMessages

/// Gets a response body piece by piece, so that it is not collected. Called on the loop of the transaction.
///
/// It gets nothing if a stage wants the whole body; then the body is in the result.
public protocol BodySink: AnyObject, Sendable {
  /// The head has arrived; called before any piece, also for each further attempt, in which the body starts again.
  /// - Parameter head: the response with an empty body.
  func begin(_ head: Response)
  /// Takes the next piece.
  /// - Returns: ``BodyProgress/pause`` to get no more pieces until `Cancellation.resumeReceiving()` is called, and
  ///   ``BodyProgress/stop`` to end the transaction: with ``failure``, or as cancelled.
  func receive(_ piece: [UInt8]) -> BodyProgress
  /// Why the sink cannot take the body; asked when it has answered ``BodyProgress/stop``. Nil means that its user wants no
  /// more, which is no failure.
  var failure: TransactionError? { get }
}

extension BodySink {
  /// Nil by default: a sink that stops ends the transaction as cancelled.
  public var failure: TransactionError? { nil }
}
