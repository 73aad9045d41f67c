import SluiceMessages
import SluiceSupport

/// The servers that delegates have accepted: by origin and key, so that a server with another key is asked about again.
/// From any thread.
package final class TrustApprovals: Sendable {
  private struct Approval: Hashable {
    let origin: Origin
    let keyHash: [UInt8]
  }

  /// Beyond this number, all are forgotten, and delegates are asked again.
  private static let capacity = 4096

  /// Whether a delegate has accepted the server whatever the authorities say.
  private let approvals = Locked<[Approval: Bool]>([:])

  package init() {}

  /// - Parameter isValid: whether the authorities vouch for the certificate. A delegate that has left the decision to them
  ///   has approved only that.
  func contains(_ origin: Origin, _ keyHash: [UInt8], isValid: Bool) -> Bool {
    guard let isAccepted = approvals.withLock({ $0[Approval(origin: origin, keyHash: keyHash)] }) else { return false }
    return isAccepted || isValid
  }

  func insert(_ origin: Origin, _ keyHash: [UInt8], isAccepted: Bool) {
    approvals.withLock { approvals in
      if approvals.count >= Self.capacity { approvals = [:] }
      approvals[Approval(origin: origin, keyHash: keyHash)] = isAccepted
    }
  }
}
