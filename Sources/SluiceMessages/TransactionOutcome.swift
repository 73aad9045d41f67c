/// How a transaction ended.
public enum TransactionOutcome: UInt32, Sendable, Hashable {
  case succeeded = 1
  case failed = 2
  case cancelled = 3
}
