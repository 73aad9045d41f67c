public import SluicePipeline

/// A Swift type that is asked before a redirect is followed.
///
/// Throwing fails the transaction, as with ``RequestInterceptor``; ``RetryRequestError`` does too here.
public protocol RedirectInterceptor: Sendable {
  func interceptRedirect(_ redirect: Redirect, context: ResponseContext) async throws -> RedirectDecision
}

/// What becomes of a redirect.
public enum RedirectDecision: Sendable, Hashable {
  case follow
  /// The redirect itself is the response.
  case takeResponse
}

/// A Swift type that is offered the challenges of 401 and 407 responses, one after the other.
public protocol ChallengeInterceptor: Sendable {
  func interceptChallenge(_ offer: ChallengeOffer, context: ResponseContext) async throws -> ChallengeDecision
}

/// What becomes of a challenge.
public enum ChallengeDecision: Sendable, Hashable {
  /// Leave it to the next who may answer, and at the end to the engine: user and password of the URL, else the response
  /// stands as it is.
  case performDefaultHandling
  /// Send again with this value of the credentials header, for instance `Bearer …`.
  case answer(String)
  /// Send again with user and password, as the challenge wants them: Basic or Digest. Where it wants neither, or these
  /// were refused already, this is the default handling.
  case credentials(user: String, password: String)
  /// End the transaction with the code `cancelled`.
  case cancel
}

/// Decides for one transaction, or for all of an engine: redirects, challenges, and what came of it.
///
/// It is asked after the stages; the delegate of a transaction before that of its engine. It is held until the
/// transaction has ended. The asynchronous methods run on the loop and must not block it; what they wait for holds up this
/// transaction alone.
public protocol TransactionDelegate: Sendable {
  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision

  /// Called once, before the completion, with everything that is known: response, error, attempts, timings. Must not block.
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
