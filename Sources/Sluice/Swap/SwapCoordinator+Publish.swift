import SluiceLocks
import SluiceMetrics
import SluicePipeline
import SluicePluginHost
import SluiceTransport

// Publication, probation, and the end of what was replaced.
extension SwapCoordinator {
  /// After the suspensions of an old snapshot were expired: how long its transactions may take to end.
  private static let expiryLimit = Duration.seconds(5)
  /// For the instances of an old snapshot, to be deactivated and destroyed.
  private static let endLimit = Duration.seconds(5)

  /// Puts a snapshot in front of new transactions on every loop. Until the last loop has it, a new transaction may run on
  /// either, and runs wholly on that one. Then the one before counts among those that drain, until it is said to stand by.
  func show(_ snapshot: Snapshot) async {
    let old = published
    for record in old.generations { record.hasServed = true }
    state.withLock { $0.arriving = snapshot }
    await LoopRound.run(on: workers) { $0.pipeline = snapshot.pipeline }
    runtime.callOuts = snapshot.configuration.callOutLimits
    for instance in old.instances where !snapshot.holds(instance) { instance.isServing = false }
    for instance in snapshot.instances { instance.isServing = true }
    for record in snapshot.generations {
      record.plugins = snapshot.parts.filter { $0.generation === record }.map(\.plugin.name)
    }
    state.update { state in
      state.published = snapshot
      state.arriving = nil
      state.draining.append(old)
    }
  }

  /// After a publication: the snapshot before stands by, or ends.
  func settle(_ old: Snapshot) {
    let new = published
    let probation = new.configuration.swap.probation.flatMap { $0.duration > .zero ? $0 : nil }
    let (before, standsBy): (SwapState.Standby?, Bool) = state.withLock { state in
      let before = state.endStandby()
      state.restorePoint = SwapState.RestorePoint(old)
      guard let probation, !state.isClosed else { return (before, false) }
      let end = ContinuousClock.now + probation.duration
      let watch = Task { [weak self] () -> Void in await self?.watch(new, against: old, probation, until: end) }
      state.draining.removeAll { $0 === old }
      state.standby = SwapState.Standby(snapshot: old, end: end, watch: watch)
      return (before, true)
    }
    before?.watch.cancel()
    if let before { drain(before.snapshot, "snapshot \(new.number) took its place") }
    if !standsBy { drain(old, "snapshot \(new.number) took its place") }
  }

  /// Takes the snapshot that stands by off its probation, to be shown: from here on nothing else ends it.
  /// - Parameter number: of the snapshot that is to serve; nil for whichever does.
  func takeStandby(of number: Int? = nil) -> Snapshot? {
    let standby: SwapState.Standby? = state.withLock { state in
      guard let standby = state.standby, number == nil || state.published.number == number else { return nil }
      (state.standby, state.restorePoint, state.arriving) = (nil, nil, standby.snapshot)
      return standby
    }
    // Not with the lock held: what is called by a cancellation may want it.
    standby?.watch.cancel()
    return standby?.snapshot
  }

  private func watch(
    _ new: Snapshot, against old: Snapshot, _ probation: SwapSettings.Probation, until end: ContinuousClock.Instant
  ) async {
    let rule = ProbationRule(floor: probation.transactions)
    let interval = min(max(probation.duration / 300, .milliseconds(5)), .milliseconds(250))
    while true {
      let now = ContinuousClock.now
      try? await Task.sleep(for: min(interval, max(end - now, .zero)))
      guard !Task.isCancelled, isOnProbation(new, old) else { return }
      if let reason = rule.breach(Self.sample(new, not: old), against: Self.sample(old, not: new)) {
        // Apart from this task, which the return cancels.
        Task { _ = await submit(.breach(snapshot: new.number), reason: reason) }
        return
      }
      if ContinuousClock.now >= end { return stood(new, old) }
    }
  }

  private func isOnProbation(_ new: Snapshot, _ old: Snapshot) -> Bool {
    state.withLock { !$0.isClosed && $0.published === new && $0.standby?.snapshot === old }
  }

  /// Broken rules are those of the builds in which the two differ.
  private static func sample(_ snapshot: Snapshot, not other: Snapshot) -> ProbationRule.Sample {
    let metrics = MetricsSnapshot(merging: snapshot.pipeline.metrics.map { $0.snapshot() })
    let own = snapshot.instances.filter { !other.holds($0) }
    return ProbationRule.Sample(metrics, violations: own.reduce(0) { $0 + $1.violations.total })
  }

  private func stood(_ new: Snapshot, _ old: Snapshot) {
    let isEnded = state.withLock { state in
      guard state.standby?.snapshot === old, !state.isClosed else { return false }
      return state.endStandby() != nil
    }
    guard isEnded else { return }
    log(LogLine(level: .info, message: "snapshot \(new.number) stood its probation"))
    drain(old, "snapshot \(new.number) took its place")
  }

  // MARK: Draining

  /// Ends a snapshot that counts among those that drain when its transactions have ended; with the engine, where that was
  /// shut down.
  func drain(_ snapshot: Snapshot, _ reason: String) {
    guard !state.withLock({ $0.isClosed }) else { return }
    Task { await waitAndPark(snapshot, reason) }
  }

  private func waitAndPark(_ snapshot: Snapshot, _ reason: String) async {
    let limit = published.configuration.swap.drain
    let end = ContinuousClock.now + limit
    let drained = Occurrence()
    Task { [workers] in
      await LoopRound.waitForLeases(on: workers, of: snapshot.pipeline)
      drained.happen()
    }
    if await !drained.isThere(within: limit) {
      await LoopRound.run(on: workers) { worker in
        worker.environment.expireSuspensions(
          on: snapshot.pipeline, reason: "its generation was to end, and waited \(limit) for it (swap.drain)")
      }
      guard await drained.isThere(within: Self.expiryLimit) else { return leak(snapshot) }
    }
    await waitForCompletions(snapshot, until: end)
    await park(snapshot, reason)
  }

  /// Notifications and scheduled work that instances of this snapshot alone have taken.
  private func waitForCompletions(_ snapshot: Snapshot, until end: ContinuousClock.Instant) async {
    while ContinuousClock.now < end {
      let others = state.withLock { $0.snapshots.filter { $0 !== snapshot } }
      let isWorking = snapshot.instances.contains { instance in
        instance.openWorkCounts.completions > 0 && !others.contains { $0.holds(instance) }
      }
      guard isWorking, !state.withLock({ $0.isClosed }) else { return }
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  private func leak(_ snapshot: Snapshot) {
    let others: [Snapshot]? = state.withLock { state in
      guard !state.isClosed, state.draining.contains(where: { $0 === snapshot }) else { return nil }
      state.draining.removeAll { $0 === snapshot }
      state.leaked.append(snapshot)
      return state.snapshots.filter { $0 !== snapshot }
    }
    guard let others else { return }
    for record in snapshot.generations where !others.contains(where: { $0.holds(record) }) {
      record.end(.parked("leaked: transactions still run on it, so that it is never destroyed"))
      log(
        LogLine(
          level: .error, plugin: record.pluginID, generation: record.id, stage: record.plugins.first,
          message: "generation \(record.id) of \(record.library) does not drain: transactions still run on it; "
            + "it is parked and never destroyed"))
    }
  }

  private func park(_ snapshot: Snapshot, _ reason: String) async {
    let parts: [SnapshotPart]? = state.withLock { state in
      guard !state.isClosed, state.draining.contains(where: { $0 === snapshot }) else { return nil }
      let parts = state.release(snapshot)
      state.keepCounts(of: snapshot)
      state.ending += 1
      return parts
    }
    guard let parts else { return }
    let given = await ControlThread.run { parts.reversed().filter { !$0.end(within: Self.endLimit) } }
    let live = state.update { state in
      state.ending -= 1
      return state.snapshots
    }
    for record in snapshot.generations where !live.contains(where: { $0.holds(record) }) {
      let isGiven = given.contains { $0.generation === record }
      record.end(
        .parked(isGiven ? "leaked: calls of it did not return in time, so that it is never destroyed" : reason))
      log(
        LogLine(
          level: isGiven ? .error : .debug, plugin: record.pluginID, generation: record.id,
          stage: record.plugins.first,
          message: "generation \(record.id) of \(record.library) is parked"
            + (isGiven ? ", and was not destroyed: calls of it did not return in time" : "")))
    }
  }
}

extension Occurrence {
  /// Waits for it, at most so long.
  func isThere(within limit: Duration) async -> Bool {
    await FirstAnswer<Bool>.race(within: limit) { answer in
      whenHappened { answer.give(true) }
    } orElse: {
      false
    }
  }
}
