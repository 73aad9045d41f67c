import SluiceMessages

/// Limits the policy's retries to a share of the transactions, so that a server in trouble does not get more work.
///
/// It works as a bucket that one loop owns: every transaction adds `ratio` retries, and every retry takes one. The
/// bucket begins with ``floor`` retries; while it holds fewer, it gains one per second. So of n transactions in t
/// seconds at most n × ratio + floor + t are retried.
struct RetryBudget: Sendable {
  static let floor = 10.0
  /// The capacity of the bucket.
  static let ceiling = 100.0

  private var balance = floor
  private var seenTransactions: UInt64 = 0
  private var seenAt: Instant?

  /// Takes one retry; false if none is left.
  ///
  /// - Parameter transactions: the number of transactions that the loop has begun so far.
  mutating func take(ratio: Double, transactions: UInt64, now: Instant) -> Bool {
    balance = min(Self.ceiling, balance + Double(transactions &- seenTransactions) * ratio)
    seenTransactions = transactions
    if let seenAt, balance < Self.floor {
      let seconds = Double(now.duration(since: seenAt).nanoseconds) / 1e9
      balance = min(Self.floor, balance + seconds)
    }
    seenAt = now
    guard balance >= 1 else { return false }
    balance -= 1
    return true
  }
}
