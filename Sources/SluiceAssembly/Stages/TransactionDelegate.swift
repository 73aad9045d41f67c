public import SluiceMessages
public import SluicePipeline
public import SluicePlugin

/// Decides about redirects and challenges, and gets the result, for one transaction or for all transactions of an
/// engine.
///
/// The stages are asked first, then the delegate of the transaction, then the delegate of the engine. It is retained
/// until the transaction has ended. The asynchronous methods run on the loop and must not block it; waiting delays only
/// this transaction.
public protocol TransactionDelegate: Sendable {
  /// Called before a redirect is followed. Throwing fails the transaction.
  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision

  /// Called when a server or proxy has asked for credentials. Throwing fails the transaction.
  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision

  /// Called once, before the completion, with the whole result: response, error, attempts, timings. Must not block.
  func transactionDidComplete(_ result: TransactionResult)
}

extension TransactionDelegate {
  /// By default the redirect is followed.
  public func transaction(
    _ context: ResponseContext, willFollow redirect: Redirect
  ) async throws -> RedirectDecision { .follow }

  /// By default leaves the challenge to the delegate of the engine, and finally to the engine, which uses the user and
  /// password of the URL or keeps the response.
  public func transaction(
    _ context: ResponseContext, didReceive offer: ChallengeOffer
  ) async throws -> ChallengeDecision { .performDefaultHandling }

  /// By default does nothing.
  public func transactionDidComplete(_ result: TransactionResult) {}
}

extension TransactionDelegate {
  /// The delegate as a stage that is asked about redirects and challenges.
  var binding: StageBinding { StageBinding(name: "delegate", interceptor: DelegateStage(self)) }
}
