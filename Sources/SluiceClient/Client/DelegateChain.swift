import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluicePlugin

/// Two delegates as one: the call's is asked first, and the client's where the first leaves the decision.
struct DelegateChain: TransactionDelegate {
  private let first: any TransactionDelegate
  private let second: any TransactionDelegate

  static func of(
    _ first: (any TransactionDelegate)?, _ second: (any TransactionDelegate)?
  ) -> (any TransactionDelegate)? {
    guard let first, let second else { return first ?? second }
    return DelegateChain(first: first, second: second)
  }

  func transaction(_ context: ResponseContext, willFollow redirect: Redirect) async throws -> RedirectDecision {
    let decision = try await first.transaction(context, willFollow: redirect)
    guard decision == .follow else { return decision }
    return try await second.transaction(context, willFollow: redirect)
  }

  func transaction(_ context: ResponseContext, didReceive offer: ChallengeOffer) async throws -> ChallengeDecision {
    let decision = try await first.transaction(context, didReceive: offer)
    guard case .performDefaultHandling = decision else { return decision }
    return try await second.transaction(context, didReceive: offer)
  }

  func transactionDidComplete(_ result: TransactionResult) {
    first.transactionDidComplete(result)
    second.transactionDidComplete(result)
  }
}
