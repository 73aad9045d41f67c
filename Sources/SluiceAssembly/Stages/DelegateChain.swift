package import SluiceMessages
package import SluicePipeline
package import SluicePlugin

/// Several delegates as one: each is asked where those before it leave the decision, and all are told what happens.
package struct DelegateChain: TransactionDelegate {
  package let members: [any TransactionDelegate]

  /// - Returns: nil without a delegate.
  package static func of(_ members: (any TransactionDelegate)?...) -> (any TransactionDelegate)? {
    let members = members.compactMap(\.self)
    return members.count > 1 ? DelegateChain(members: members) : members.first
  }

  /// As long as all decisions of its members together may take.
  package var decisionTimeout: Duration? {
    members.reduce(.zero) { sum, member in
      guard let sum, let timeout = member.decisionTimeout else { return nil }
      return sum + min(timeout, .seconds(366 * 86_400))
    }
  }

  package func transaction(
    _ context: ResponseContext, willFollow redirect: Redirect
  ) async throws -> RedirectDecision {
    for member in members {
      let decision = try await member.transaction(context, willFollow: redirect)
      guard decision == .follow else { return decision }
    }
    return .follow
  }

  package func transaction(
    _ context: ResponseContext, didReceive offer: ChallengeOffer
  ) async throws -> ChallengeDecision {
    for member in members {
      let decision = try await member.transaction(context, didReceive: offer)
      guard case .performDefaultHandling = decision else { return decision }
    }
    return .performDefaultHandling
  }

  package func transaction(_ id: TransactionID, didSend progress: TransferProgress) {
    for member in members { member.transaction(id, didSend: progress) }
  }

  package func transaction(_ id: TransactionID, didReceive progress: TransferProgress) {
    for member in members { member.transaction(id, didReceive: progress) }
  }

  package func transaction(_ id: TransactionID, didReceiveInformational status: Int, headers: HeaderFields) {
    for member in members { member.transaction(id, didReceiveInformational: status, headers: headers) }
  }

  package func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) {
    for member in members { member.transaction(id, didEndHop: metrics) }
  }

  package func transactionDidComplete(_ result: TransactionResult) {
    for member in members { member.transactionDidComplete(result) }
  }
}
