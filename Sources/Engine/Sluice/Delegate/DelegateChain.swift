package import SluiceMessages
package import SluicePipeline
package import SluicePlugin
import Synchronization

/// Several delegates in a fixed order that act as one delegate. A delegate is asked for a decision only if all
/// delegates before it have left the decision open. All delegates get the progress.
package struct DelegateChain: TransactionDelegate {
  package let members: [any TransactionDelegate]
  /// The number of members that belong to the call itself. These members come first.
  let callMembers: Int
  /// The number that identifies the client.
  let client: UInt64

  private static let clients = Atomic<UInt64>(0)

  /// Returns an unused number for a new client.
  package static func nextClient() -> UInt64 { clients.add(1, ordering: .relaxed).newValue }

  /// The chain for a call: the call's own delegate, then the client's delegate.
  ///
  /// - Parameters:
  ///   - own: the delegate of the call itself, which decides first.
  ///   - shared: the delegate of the client.
  ///   - client: the number of the client.
  /// - Returns: nil if there is no delegate.
  package static func of(
    _ own: (any TransactionDelegate)?, _ shared: (any TransactionDelegate)?, client: UInt64
  ) -> (any TransactionDelegate)? {
    let ownMembers = own.map(members) ?? []
    let members = ownMembers + (shared.map(members) ?? [])
    return members.isEmpty ? nil : DelegateChain(members: members, callMembers: ownMembers.count, client: client)
  }

  /// The chain of two delegates that belong to the call itself. The first delegate can be nil.
  package static func of(_ first: (any TransactionDelegate)?, _ second: any TransactionDelegate) -> DelegateChain {
    let members = (first.map(members) ?? []) + members(second)
    return DelegateChain(members: members, callMembers: members.count, client: 0)
  }

  /// The members of a chain; for any other delegate, only that delegate.
  static func members(_ delegate: any TransactionDelegate) -> [any TransactionDelegate] {
    (delegate as? DelegateChain)?.members ?? [delegate]
  }

  /// The sum of the limits of its members; nil if one of them sets no limit.
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
