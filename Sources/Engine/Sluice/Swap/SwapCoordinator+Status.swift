import SluiceAssembly
import SluiceLoop
import SluicePipeline
import SluicePluginFile
import SluicePluginHost
import SluiceReplay
import SluiceSupport

extension SwapCoordinator {
  /// The time limit for the answers of the loops. The transactions of a loop that does not answer in time are left out.
  private static let surveyLimit = Duration.seconds(1)

  func status() async -> EngineStatus {
    let state = self.state.withLock { $0 }
    let snapshots = state.live.all
    let (running, silent) = await survey(snapshots, isOver: state.isClosed)
    let use = mapped
    let generations = hosting.records.map { record in
      generation(record, state, zip(snapshots, running).filter { $0.0.holds(record) }.map { ($0.0, $0.1) })
    }
    return EngineStatus(
      snapshot: state.published.number, generations: generations,
      budget: EngineStatus.Budget(used: use.count, limit: state.published.configuration.swap.generations),
      budgetBytes: EngineStatus.Budget(used: use.bytes, limit: state.published.configuration.swap.generationBytes),
      replaced: EngineStatus.Budget(used: state.machine.retiredCount, limit: SwapMachine.retiredLimit),
      canary: canaryStatus(state),
      isDeciding: state.requests.values.contains { !$0.kind.waitsForCanary },
      probation: state.machine.standby.map { standby in
        let ended = state.published.pipeline.counts.completed
        return EngineStatus.Probation(
          standby: standby.snapshot, remaining: max(standby.end - MonotonicClock.now, .zero), transactions: Int(ended),
          followsCanary: state.canary?.snapshot === state.published)
      },
      running: state.running(at: MonotonicClock.now), queued: state.machine.queue.entries.count, waits: waits(),
      history: state.history, refused: store.refusals?.all ?? [:], silentLoops: silent, stalls: watchdog.stalls)
  }

  /// The publications and drains that are delayed because a loop does not answer.
  func waits() -> [EngineStatus.Wait] {
    let (machine, now) = (state.withLock { $0.machine }, MonotonicClock.now)
    let publications = machine.lateLoops.map { loop in
      wait(for: loop, .publication, machine.newest.snapshot, now - machine.newest.began)
    }
    let drains = machine.retired.flatMap { retired in
      machine.holders(of: retired).map { wait(for: $0, .drain, retired.snapshot, now - retired.since) }
    }
    return publications + drains
  }

  private func wait(
    for loop: Int, _ purpose: EngineStatus.Wait.Purpose, _ snapshot: Int, _ age: Duration
  ) -> EngineStatus.Wait {
    EngineStatus.Wait(
      purpose: purpose, snapshot: snapshot, age: age, obstacle: watchdog.obstacle(on: loop, waiting: age))
  }

  private func generation(
    _ record: GenerationRecord, _ state: SwapState, _ holding: [(Snapshot, [RunningTransaction])]
  ) -> EngineStatus.Generation {
    var generation = EngineStatus.Generation(
      id: record.id, state: Self.state(of: record, state), library: record.library, plugins: record.plugins,
      pluginID: record.pluginID, version: record.version, hash: record.hash.hex, buildID: record.buildID)
    generation.violations = record.violations
    let parts = holding.flatMap { $0.0.parts }.filter { $0.generation === record }
    var seen: [PluginInstance] = []
    for instance in parts.compactMap(\.instance) where !seen.contains(where: { $0 === instance }) {
      seen.append(instance)
      let counts = instance.openWorkCounts
      generation.completions += counts.completions
      generation.timers += counts.timers
      generation.openCalls += counts.calls
    }
    for (snapshot, transactions) in holding {
      generation.leases += transactions.count
      generation.suspended += transactions.count { transaction in
        transaction.suspendedIn.flatMap { snapshot.part($0) }?.generation === record
      }
      generation.holders += transactions
    }
    generation.holders.sort { $0.age > $1.age }
    generation.holders = Array(generation.holders.prefix(EngineStatus.Generation.holderLimit))
    return generation
  }

  private static func state(of record: GenerationRecord, _ state: SwapState) -> EngineStatus.Generation.State {
    if state.published.holds(record) {
      return state.standby.map { !$0.holds(record) } == true ? .probation : .active
    }
    switch record.end {
    case .parked(let reason): return .parked(reason)
    case .refused(let reason): return .refused(reason)
    case nil: break
    }
    if state.machine.canary != nil, state.canary?.snapshot.holds(record) == true { return .canary }
    if state.standby?.holds(record) == true { return .standby }
    return record.hasServed ? .draining : .preparing
  }

  private func canaryStatus(_ state: SwapState) -> EngineStatus.Canary? {
    guard let canary = state.machine.canary, let progress = state.canary else { return nil }
    let (base, counts) = (state.published, progress.counts(beside: state.published))
    return EngineStatus.Canary(
      candidate: EngineStatus.Canary.Arm(snapshot: progress.snapshot.number, counts: counts.candidate),
      control: EngineStatus.Canary.Arm(snapshot: base.number, counts: counts.control),
      changes: Self.changes(from: base, to: progress.snapshot), settings: progress.settings, step: canary.step,
      shadow: progress.shadow(in: canary.step)?.status, hold: canary.hold,
      age: canary.holdEnd.map { MonotonicClock.now - $0 + canary.hold }, nextLook: progress.rule.nextLook,
      limit: progress.rule.limit(against: counts.control))
  }

  /// The transactions on each snapshot, and the loops that did not report.
  private func survey(_ snapshots: [Snapshot], isOver: Bool) async -> ([[RunningTransaction]], [Int]) {
    let found = Locked<[Int: [[RunningTransaction]]]>([:])
    // Loops that are known to be stuck are not asked.
    let stuck = watchdog.stuckLoops
    let asked = workers.filter { !stuck.contains($0.loop.index) }
    await FirstAnswer<Void>.race(within: Self.surveyLimit) { done in
      let end = LastRelease { _ = done.give(()) }
      for worker in asked {
        worker.loop.post {
          let running = snapshots.map { worker.environment.transactions(on: $0.pipeline) }
          withExtendedLifetime(end) { found.withLock { $0[worker.loop.index] = running } }
        }
      }
    } orElse: {
    }
    let answers = found.withLock { $0 }
    let merged = snapshots.indices.map { index in answers.values.flatMap { $0[index] } }
    return (merged, isOver ? [] : workers.map(\.loop.index).filter { answers[$0] == nil })
  }
}

extension SwapState {
  fileprivate func running(at now: Duration) -> EngineStatus.Running? {
    guard let running = machine.running, let request = requests[running.request] else { return nil }
    let step: EngineStatus.Running.Step = running.step == .preparing ? .preparing : .publishing
    return EngineStatus.Running(id: request.id, trigger: request.kind.trigger, step: step, age: now - running.since)
  }
}
