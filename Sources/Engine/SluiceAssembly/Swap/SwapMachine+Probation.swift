// Probation: the time in which a new snapshot is compared with the previous snapshot, and the engine can return to the
// previous snapshot at once.
extension SwapMachine {
  /// Requests a comparison if it is due.
  mutating func sampleIfDue(at now: Duration) -> [Action] {
    if let canary, let due = canary.nextSample, now >= due {
      self.canary?.nextSample = nil
      return [.sample(snapshot: canary.snapshot, against: served)]
    }
    guard let standby, let due = standby.nextSample, now >= due else { return [] }
    self.standby?.nextSample = nil
    return [.sample(snapshot: served, against: standby.snapshot)]
  }

  /// Called when the snapshots were compared.
  mutating func sampled(_ snapshot: Int, _ breach: String?, _ now: Duration) -> [Action] {
    guard let standby, snapshot == served, !isClosed else { return [] }
    if let breach { return [.request(.breach(snapshot: served), because: breach)] }
    guard now >= standby.end else {
      self.standby?.nextSample = min(now + standby.interval, standby.end)
      return []
    }
    self.standby = nil
    return [.stoodProbation(served)] + retire(standby.snapshot, "snapshot \(served) took its place", now)
  }
}

extension SwapMachine.Standby {
  init(_ snapshot: Int, for duration: Duration, from now: Duration) {
    let interval = Self.interval(during: duration)
    self.init(
      snapshot: snapshot, end: now + duration, interval: interval, nextSample: now + min(interval, duration))
  }

  /// The time between two comparisons.
  static func interval(during duration: Duration) -> Duration {
    min(max(duration / 300, .milliseconds(5)), .milliseconds(250))
  }
}
