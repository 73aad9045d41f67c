import SluiceAssembly
import SluicePipeline
import SluicePluginHost
import SluiceSupport

// Compares the serving snapshot with the snapshot that it replaced, and a canary with the serving one.
extension SwapCoordinator {
  func sample(_ new: Int, _ old: Int) {
    let (serving, standby) = state.withLock { ($0.live[new], $0.live[old]) }
    guard let serving, let standby else { return }
    if judge(serving, against: standby) { return }
    let floor = (serving.configuration.swap.probation ?? SwapSettings.Probation()).transactions
    let breach = ProbationRule(floor: floor).breach(
      Self.sample(serving, not: standby), against: Self.sample(standby, not: serving))
    handle(.sampled(snapshot: new, breach: breach))
  }

  /// Makes a sample of a snapshot. Violations are counted only for instances that the other snapshot does not have.
  private static func sample(_ snapshot: Snapshot, not other: Snapshot) -> ProbationRule.Sample {
    let metrics = snapshot.pipeline.counts
    return ProbationRule.Sample(metrics, violations: snapshot.ownViolations(beside: other))
  }
}

extension Snapshot {
  /// The violations of the instances that another snapshot does not have.
  func ownViolations(beside other: Snapshot) -> Int {
    instances.filter { !other.holds($0) }.reduce(0) { $0 + $1.violations.total }
  }
}
