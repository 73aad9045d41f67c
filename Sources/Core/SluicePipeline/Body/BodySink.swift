public import SluiceMessages

/// Gets a response body piece by piece, so that the body is not collected in memory. Called on the loop of the
/// transaction.
///
/// If a stage wants the whole body, the sink gets no pieces, and the body is in the result.
public protocol BodySink: AnyObject, Sendable {
  /// The head has arrived. Called before any piece, and again for each further attempt, in which the body starts again.
  /// - Parameter head: the response with an empty body.
  func begin(_ head: Response)
  /// Takes the head of an informational response (1xx), which comes before the final one. By default it is dropped.
  func receiveInformational(_ status: Int, _ headers: HeaderFields)
  /// Takes the next piece.
  /// - Returns: ``BodyProgress/pause`` to get no more pieces until `Cancellation.resumeReceiving()` is called, and
  ///   ``BodyProgress/stop`` to end the transaction: with ``failure``, or as cancelled.
  func receive(_ piece: [UInt8]) -> BodyProgress
  /// A body that is announced to have at most this many bytes comes with the result instead of in pieces, which costs less.
  /// 0 by default.
  var gatheredBytes: Int { get }
  /// Why the sink cannot accept the body; read after the sink has answered ``BodyProgress/stop``. Nil means that the
  /// user of the sink wants no more pieces, which is not a failure.
  var failure: TransactionError? { get }
}

extension BodySink {
  /// Nil by default: if the sink stops, the transaction ends as cancelled.
  public var failure: TransactionError? { nil }
  /// 0 by default: every body comes in pieces.
  public var gatheredBytes: Int { 0 }
  /// Drops it by default.
  public func receiveInformational(_ status: Int, _ headers: HeaderFields) {}
}
