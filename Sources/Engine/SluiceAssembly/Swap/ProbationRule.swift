package import SluicePipeline

/// Decides when a new snapshot is worse than the previous one.
///
/// It compares three shares with those of the previous snapshot: failed transactions, calls that missed their deadline,
/// and faults and violations. When enough transactions have ended, a share is a breach if it is larger than twice the
/// share of the previous snapshot plus five percentage points.
package struct ProbationRule: Sendable {
  /// The counts of one snapshot.
  package struct Sample: Sendable, Hashable {
    /// Ended transactions, except those that the caller cancelled.
    package var ended: UInt64 = 0
    package var failed: UInt64 = 0
    /// Calls of stages that were not resumed in time.
    package var timeouts: UInt64 = 0
    /// Faults of stages, and violations of the rules of the ABI.
    package var violations: UInt64 = 0
  }

  /// The minimum number of transactions for a comparison.
  package let floor: Int

  package init(floor: Int) { self.floor = floor }

  private static let factor = 2.0
  private static let allowance = 0.05

  /// Why the new snapshot is worse; nil if it is not worse, or if too few transactions have ended. The text names every
  /// share that is worse, because failed transactions are often caused by faults in stages.
  package func breach(_ new: Sample, against old: Sample) -> String? {
    guard new.ended >= UInt64(floor) else { return nil }
    let breaches = [
      Self.breach(" %", "of its transactions failed", new.failed, new, old.failed, old),
      Self.breach("", "missed deadlines per 100 transactions", new.timeouts, new, old.timeouts, old),
      Self.breach("", "faults and violations per 100 transactions", new.violations, new, old.violations, old),
    ].compactMap(\.self)
    return breaches.isEmpty ? nil : breaches.joined(separator: "; ") + "; after \(new.ended) transactions"
  }

  private static func breach(
    _ unit: String, _ what: String, _ newCount: UInt64, _ new: Sample, _ oldCount: UInt64, _ old: Sample
  ) -> String? {
    let share = Double(newCount) / Double(max(new.ended, 1))
    let before = Double(oldCount) / Double(max(old.ended, 1))
    guard share > before * factor + allowance else { return nil }
    return "\(hundredfold(share))\(unit) \(what), \(hundredfold(before))\(unit) with the previous snapshot"
  }

  private static func hundredfold(_ share: Double) -> String {
    let tenths = Int((share * 1000).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

extension ProbationRule.Sample {
  package init(_ metrics: MetricsSnapshot, violations: Int) {
    failed = metrics[.failed]
    ended = metrics[.succeeded] &+ failed
    for stage in metrics.stages {
      timeouts &+= stage.timeouts
      self.violations &+= stage.faults
    }
    self.violations &+= UInt64(clamping: violations)
  }
}
