import SluiceAssembly
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceReplay

/// A canary and what its rule has seen of the current step.
struct CanaryProgress: Sendable {
  let snapshot: Snapshot
  let settings: CanarySettings
  /// Its records in the store, which other processes read.
  let records: [CanaryRecord]
  /// Nil without a shadow.
  let shadow: ShadowRun?
  private let salt: UInt64
  /// The counts of both arms when the step began.
  private var earlier: (candidate: ArmCounts, control: ArmCounts) = (ArmCounts(), ArmCounts())
  private(set) var rule: CanaryRule
  /// The number of the canary's transactions that were compared in the current step; nil before it was looked at.
  private var compared: UInt64?
  /// Whether its end was requested for a reason that does not go away.
  var isEnding = false

  /// - Parameter base: the snapshot that serves the other transactions.
  init(
    _ snapshot: Snapshot, _ settings: CanarySettings, beside base: Snapshot, _ records: [CanaryRecord],
    _ shadow: ShadowRun?
  ) {
    self.snapshot = snapshot
    self.settings = settings
    self.records = records
    self.shadow = shadow
    rule = CanaryRule(judgesLatency: settings.comparesLatency)
    var hash = MessageHash()
    for record in snapshot.generations where !base.holds(record) { hash.update(record.hash.hex.utf8) }
    salt = hash.finish()
  }

  /// The share in a step, in percent.
  func percent(_ step: Int) -> Double { settings.shares[step] }

  func draw(_ step: Int) -> ArmDraw {
    if let shadow = shadow(in: step), let share = settings.shadow?.share {
      return ArmDraw(.sample(begin: shadow.begin, end: shadow.end), percent: share)
    }
    return ArmDraw(.canary(snapshot.pipeline), percent: percent(step), by: settings.key, salt: salt)
  }

  /// The shadow, if it is that step.
  func shadow(in step: Int?) -> ShadowRun? { step == 0 ? shadow : nil }

  mutating func beginStep(beside base: Snapshot) {
    compared = nil
    earlier = (snapshot.counts(beside: base), base.counts(beside: snapshot))
    rule = CanaryRule(judgesLatency: settings.comparesLatency)
  }

  /// Called when the canary was published, and is on probation. From now on, it is compared with what the replaced snapshot
  /// did in the last step. That is another time, in which servers were faster or slower, so latencies are not compared.
  mutating func beginProbation(after base: Snapshot) {
    earlier.candidate = snapshot.counts(beside: base)
    compared = nil
    rule = CanaryRule(judgesLatency: false)
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
    let breach = rule.breach(counts.candidate, against: counts.control)
    // A step does not end before its transactions were compared.
    let compared = rule.nextLook == nil ? counts.candidate.ended : rule.lastLook
    self.compared = compared
    return (breach, settings.onSilence == .promote || compared >= UInt64(settings.transactions))
  }

  /// Says that the current step ends before as many transactions were compared as a step needs; nil if they were.
  var silence: String? {
    guard let compared, compared < UInt64(settings.transactions) else { return nil }
    return
      "only \(Figures.count(compared)) of the \(Figures.count(settings.transactions)) requests of a step were compared"
  }

  /// Whether a shadow has shown enough. Samples that could not be compared are no silence.
  func isEnough(_ verdict: ShadowRun.Verdict, _ status: ShadowStatus) -> Bool {
    verdict.isPassed || settings.onSilence == .promote && status.isSilent
  }
}

extension Snapshot {
  /// The counts of an arm. A violation is not counted by transaction, and can be the reason why one is unhealthy. So the
  /// larger of the two numbers counts. Violations of instances that are in both arms do not count.
  fileprivate func counts(beside other: Snapshot) -> ArmCounts {
    var counts = ArmCounts(pipeline.counts)
    counts.unhealthy = max(counts.unhealthy, UInt64(clamping: ownViolations(beside: other)))
    return counts
  }
}

extension SwapState {
  /// What draws the transactions of a loop that takes the newest publication; nil without a canary.
  func draw() -> ArmDraw? {
    machine.newest.canaryStep.flatMap { canary?.draw($0) }
  }
}
