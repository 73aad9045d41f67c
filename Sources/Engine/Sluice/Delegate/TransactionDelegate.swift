public import SluiceMessages
public import SluicePipeline
public import SluicePlugin

/// Decides about redirects and challenges, and gets the progress and the result, for one transaction or for all
/// transactions of an engine.
///
/// The stages decide first, then the delegate of the transaction, then the delegate of the engine. A delegate is
/// retained until the transaction has ended. All methods run on the loop and must not block it. The asynchronous
/// methods can wait. This delays only their own transaction.
///
/// The methods of a delegate of a call or a client see the task-local values of the code that made the call. A delegate
/// of an engine, which has no such code, sees none.
public protocol TransactionDelegate: Sendable {
  /// The time limit for a decision. If the delegate takes longer, the transaction fails with the code `stage_timeout`.
  /// If it is nil, only the deadline of the transaction limits the time.
  var decisionTimeout: Duration? { get }

  /// Called before a redirect is followed. Throwing fails the transaction.
  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision

  /// Called when a server or proxy has asked for credentials. Throwing fails the transaction.
  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision

  /// Called when bytes of the request body have been given to the system. The count begins at 0 in each hop.
  func transaction(_ id: TransactionID, didSend progress: TransferProgress)

  /// Called when bytes of the response body have been received. The body of a redirect that is followed is not
  /// reported.
  func transaction(_ id: TransactionID, didReceive progress: TransferProgress)

  /// Called for each informational response (RFC 9110 §15.2), such as 103 Early Hints.
  func transaction(_ id: TransactionID, didReceiveInformational status: Int, headers: HeaderFields)

  /// Called at the end of each hop, even if the hop failed or was cancelled.
  func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics)

  /// Called once, before the completion, with the whole result: response, error, attempts, timings. Must not block.
  func transactionDidComplete(_ result: TransactionResult)
}

extension TransactionDelegate {
  /// By default one minute.
  public var decisionTimeout: Duration? { .seconds(60) }

  /// By default the redirect is followed.
  public func transaction(
    _ context: ResponseContext, willFollow redirect: Redirect
  ) async throws -> RedirectDecision { .follow }

  /// By default, leaves the challenge to the delegate of the engine, and then to the engine. The engine answers with
  /// the user and password of the URL. If there are none, the response stays the result.
  public func transaction(
    _ context: ResponseContext, didReceive offer: ChallengeOffer
  ) async throws -> ChallengeDecision { .performDefaultHandling }

  /// By default does nothing.
  public func transaction(_ id: TransactionID, didSend progress: TransferProgress) {}

  /// By default does nothing.
  public func transaction(_ id: TransactionID, didReceive progress: TransferProgress) {}

  /// By default does nothing.
  public func transaction(_ id: TransactionID, didReceiveInformational status: Int, headers: HeaderFields) {}

  /// By default does nothing.
  public func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) {}

  /// By default does nothing.
  public func transactionDidComplete(_ result: TransactionResult) {}
}

extension TransactionDelegate {
  /// The delegate as a stage that decides about redirects and challenges.
  ///
  /// - Parameter context: the context of the code that made the call; nil for the delegate of an engine.
  func binding(in context: CallerContext?) -> StageBinding {
    let stage = DelegateStage(self, context)
    return StageBinding(name: "delegate", interceptor: stage, deadline: decisionTimeout, observer: stage)
  }
}
