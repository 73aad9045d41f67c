/// How a transaction ended.
public enum TransactionOutcome: UInt32, Sendable, Hashable {
  case succeeded = 1
  case failed = 2
  case cancelled = 3
}

extension TransactionOutcome {
  /// The name of the outcome in logs.
  package var name: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }

  /// The outcome with that name.
  package init?(name: String) {
    switch name {
    case "succeeded": self = .succeeded
    case "failed": self = .failed
    case "cancelled": self = .cancelled
    default: return nil
    }
  }
}
