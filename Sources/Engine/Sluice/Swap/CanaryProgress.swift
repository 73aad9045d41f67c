import SluiceAssembly
import SluicePipeline
import SluicePluginHost

/// A canary and what its rule has seen of the current step.
struct CanaryProgress: Sendable {
  let snapshot: Snapshot
  let settings: CanarySettings
  private let salt: UInt64
  /// The counts of both arms when the step began.
  private var earlier: (candidate: ArmCounts, control: ArmCounts) = (ArmCounts(), ArmCounts())
  private(set) var rule: CanaryRule

  /// - Parameter base: the snapshot that serves the other transactions.
  init(_ snapshot: Snapshot, _ settings: CanarySettings, beside base: Snapshot) {
    self.snapshot = snapshot
    self.settings = settings
    rule = CanaryRule(judgesLatency: settings.comparesLatency)
    var hash = MessageHash()
    for record in snapshot.generations where !base.holds(record) { hash.update(record.hash.hex.utf8) }
    salt = hash.finish()
  }

  /// The share in a step, in percent.
  func percent(_ step: Int) -> Double {
    settings.steps.indices.contains(step) ? settings.steps[step] : 0
  }

  func draw(_ step: Int) -> ArmDraw {
    ArmDraw(snapshot.pipeline, percent: percent(step), by: settings.key, salt: salt)
  }

  mutating func beginStep(beside base: Snapshot) {
    earlier = (snapshot.counts(beside: base), base.counts(beside: snapshot))
    rule = CanaryRule(judgesLatency: settings.comparesLatency)
  }

  /// What has happened in the current step.
  func counts(beside base: Snapshot) -> (candidate: ArmCounts, control: ArmCounts) {
    (
      snapshot.counts(beside: base).since(earlier.candidate), base.counts(beside: snapshot).since(earlier.control)
    )
  }

  mutating func judge(
    _ counts: (candidate: ArmCounts, control: ArmCounts)
  ) -> (breach: String?, isEnough: Bool) {
    (rule.breach(counts.candidate, against: counts.control), counts.candidate.ended >= UInt64(settings.transactions))
  }
}

extension Snapshot {
  /// The counts of an arm. Violations count as unhealthy transactions, except those of instances that are in both arms.
  fileprivate func counts(beside other: Snapshot) -> ArmCounts {
    var counts = ArmCounts(MetricsSnapshot(merging: pipeline.metrics.map { $0.snapshot() }))
    counts.unhealthy &+= UInt64(clamping: ownViolations(beside: other))
    return counts
  }
}

extension SwapState {
  /// What draws the transactions of a loop that takes the newest publication; nil without a canary.
  func draw() -> ArmDraw? {
    guard machine.newest.canary != nil, let step = machine.canary?.step else { return nil }
    return canary?.draw(step)
  }
}
