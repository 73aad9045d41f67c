import SluiceLocks
import SluicePipeline
import SluicePluginHost
import SluiceTransport

extension SwapCoordinator {
  /// A loop that has not answered by then is left out.
  private static let surveyLimit = Duration.seconds(1)

  func status() async -> EngineStatus {
    let state = self.state.withLock { $0 }
    let snapshots = state.snapshots
    let (running, silent) = await survey(snapshots, isOver: state.isClosed)
    let generations = registry.records.map { record in
      generation(record, state, zip(snapshots, running).filter { $0.0.holds(record) }.map { ($0.0, $0.1) })
    }
    return EngineStatus(
      snapshot: state.published.number, generations: generations,
      budget: EngineStatus.Budget(used: generations.count, limit: state.published.configuration.swap.generations),
      probation: state.standby.map { standby in
        let ended = state.published.pipeline.metrics.reduce(0) { $0 + $1.snapshot().completed }
        return EngineStatus.Probation(
          standby: standby.snapshot.number, remaining: max(standby.end - .now, .zero), transactions: Int(ended))
      },
      queued: state.queue.entries.count, history: state.history, refused: registry.refusals?.all ?? [:],
      silentLoops: silent, stalls: watchdog.stalls)
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
      return state.standby.map { !$0.snapshot.holds(record) } == true ? .probation : .active
    }
    switch record.end {
    case .parked(let reason): return .parked(reason)
    case .refused(let reason): return .refused(reason)
    case nil: break
    }
    if state.standby?.snapshot.holds(record) == true { return .standby }
    return record.hasServed ? .draining : .preparing
  }

  /// What runs on each snapshot, and the loops that did not say.
  private func survey(_ snapshots: [Snapshot], isOver: Bool) async -> ([[RunningTransaction]], [Int]) {
    let found = Locked<[Int: [[RunningTransaction]]]>([:])
    let isDone = Occurrence()
    Task { [workers] in
      await LoopRound.run(on: workers) { worker in
        let running = snapshots.map { worker.environment.transactions(on: $0.pipeline) }
        found.withLock { $0[worker.loop.index] = running }
      }
      isDone.happen()
    }
    _ = await isDone.isThere(within: Self.surveyLimit)
    let answers = found.withLock { $0 }
    let merged = snapshots.indices.map { index in answers.values.flatMap { $0[index] } }
    return (merged, isOver ? [] : workers.map(\.loop.index).filter { answers[$0] == nil })
  }
}
