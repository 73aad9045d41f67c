package import SluicePipeline

/// What happened to the transactions of one arm: of the candidate, or of the control.
package struct ArmCounts: Sendable, Hashable {
  /// Ended transactions, except those that the caller cancelled.
  package var ended: UInt64
  /// Those that failed, ended with a status of 5xx, or had a stage that missed its deadline or broke a rule. Each of them
  /// counts once, so that the counts are those of independent trials.
  package var unhealthy: UInt64
  /// The time from submission to the end.
  package var duration: LatencySnapshot

  package init(ended: UInt64 = 0, unhealthy: UInt64 = 0, duration: LatencySnapshot = LatencySnapshot()) {
    self.ended = ended
    self.unhealthy = unhealthy
    self.duration = duration
  }

  package init(_ metrics: MetricsSnapshot) {
    self.init(
      ended: metrics[.succeeded] &+ metrics[.failed], unhealthy: metrics.unhealthy, duration: metrics.duration)
  }

  /// What happened after an earlier reading of the same arm.
  package func since(_ earlier: ArmCounts) -> ArmCounts {
    ArmCounts(
      ended: ended &- earlier.ended, unhealthy: unhealthy &- earlier.unhealthy,
      duration: duration.since(earlier.duration))
  }
}
