import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The servers that delegates have accepted. An approval holds for one origin, one public key and one scope of
/// delegates. If one of the three differs, delegates are asked again. Can be used from any thread.
package final class TrustApprovals: Sendable {
  private struct Approval: Hashable {
    let origin: Origin
    let keyHash: [UInt8]
    let scope: HandshakePolicy.Scope
  }

  /// The maximum number of approvals. When it is reached, all approvals are forgotten, and delegates are asked again.
  private static let capacity = 4096

  /// The value is true if a delegate accepted the server whether or not the authorities vouch for it.
  private let approvals = Locked<[Approval: Bool]>([:])

  package init() {}

  /// - Parameter isValid: whether the authorities vouch for the certificate. If a delegate left the decision to the
  ///   authorities, its approval holds only for a certificate for which they vouch.
  func contains(_ origin: Origin, _ keyHash: [UInt8], _ scope: HandshakePolicy.Scope, isValid: Bool) -> Bool {
    let approval = Approval(origin: origin, keyHash: keyHash, scope: scope)
    guard let isAccepted = approvals.withLock({ $0[approval] }) else { return false }
    return isAccepted || isValid
  }

  func insert(_ origin: Origin, _ keyHash: [UInt8], _ scope: HandshakePolicy.Scope, isAccepted: Bool) {
    approvals.withLock { approvals in
      if approvals.count >= Self.capacity { approvals = [:] }
      approvals[Approval(origin: origin, keyHash: keyHash, scope: scope)] = isAccepted
    }
  }
}
