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

  private let approvals = Locked<Set<Approval>>([])

  package init() {}

  func contains(_ origin: Origin, _ keyHash: [UInt8]) -> Bool {
    approvals.withLock { $0.contains(Approval(origin: origin, keyHash: keyHash)) }
  }

  func insert(_ origin: Origin, _ keyHash: [UInt8]) {
    approvals.withLock { approvals in
      if approvals.count >= Self.capacity { approvals = [] }
      approvals.insert(Approval(origin: origin, keyHash: keyHash))
    }
  }
}
