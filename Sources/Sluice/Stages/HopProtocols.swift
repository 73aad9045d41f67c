public import SluicePipeline

/// A Swift type that is called before a redirect is followed.
///
/// Throwing fails the transaction, as with ``RequestInterceptor``, even with ``RetryRequestError``.
public protocol RedirectInterceptor: Sendable {
  func interceptRedirect(_ redirect: Redirect, context: ResponseContext) async throws -> RedirectDecision
}

/// The decision about a redirect.
public enum RedirectDecision: Sendable, Hashable {
  case follow
  /// The redirect itself is the response.
  case takeResponse
}

/// A Swift type that gets the challenges of 401 and 407 responses, one after the other.
public protocol ChallengeInterceptor: Sendable {
  func interceptChallenge(_ offer: ChallengeOffer, context: ResponseContext) async throws -> ChallengeDecision
}

/// The decision about a challenge.
public enum ChallengeDecision: Sendable, Hashable {
  /// Leave it to the next stage or delegate, and finally to the engine, which uses the user and password of the URL, or
  /// keeps the response.
  case performDefaultHandling
  /// Send again with this value of the credentials header, for instance `Bearer …`.
  case answer(String)
  /// Send again with user and password, as Basic or Digest, whichever the challenge wants. If it wants neither, or they
  /// were already refused, this is the default handling.
  case credentials(user: String, password: String)
  /// End the transaction with the code `cancelled`.
  case cancel
}

/// Decides about redirects and challenges, and gets the result, for one transaction or for all transactions of an
/// engine.
///
/// It is asked after the stages; the delegate of a transaction before that of its engine. It is retained until the
/// transaction has ended. The asynchronous methods run on the loop and must not block it; waiting delays only this
/// transaction.
public protocol TransactionDelegate: Sendable {
  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision

  /// Called once, before the completion, with the whole result: response, error, attempts, timings. Must not block.
  func transactionDidComplete(_ result: TransactionResult)
}

extension TransactionDelegate {
  public func transaction(
    _ context: ResponseContext, willFollow redirect: Redirect
  ) async throws -> RedirectDecision { .follow }

  public func transaction(
    _ context: ResponseContext, didReceive offer: ChallengeOffer
  ) async throws -> ChallengeDecision { .performDefaultHandling }

  public func transactionDidComplete(_ result: TransactionResult) {}
}

extension TransactionDelegate {
  /// The delegate as a stage that is asked about redirects and challenges.
  var binding: StageBinding {
    let code = StageCode(
      redirect: { try await transaction($1, willFollow: $0) }, challenge: { try await transaction($1, didReceive: $0) })
    return StageBinding(name: "delegate", interceptor: CodeStage(code))
  }
}
