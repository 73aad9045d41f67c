import SluiceAssembly
import SluiceLoop
import SluicePipeline
import SluicePluginHost
import SluiceSupport

// Publication.
extension SwapCoordinator {
  /// Makes loops take the newest publication. Until a loop has taken it, a new transaction on that loop runs entirely
  /// on the previous snapshot.
  func hand(to loops: [Int]) {
    let canary = state.withLock { state in state.machine.newest.canary.flatMap { state.live[$0] } }
    for record in published.generations + (canary?.generations ?? []) { record.hasServed = true }
    recordShare()
    for loop in loops { post(to: workers[loop]) }
  }

  private func post(to worker: Worker) {
    worker.loop.post { [self] in take(worker) }
  }

  /// Publishes the first snapshot. No loop runs a transaction yet, so nothing can delay the publication.
  func serve(_ first: Snapshot) {
    let empty = published
    state.withLock { $0 = SwapState(published: first, loops: workers.count) }
    first.serve(after: empty)
    for worker in workers { post(to: worker) }
  }

  /// Takes the newest publication. If a loop was blocked during several publications, it runs this function several
  /// times, but the first call already takes the newest. [loop]
  private func take(_ worker: Worker) {
    let (newest, draw) = state.update { state in
      state.actions += state.machine.handle(.took(loop: worker.loop.index), at: MonotonicClock.now)
      return (state.live[state.machine.newest.snapshot], state.draw())
    }
    guard let newest else { return }
    worker.pipeline = newest.pipeline
    worker.draw = draw
  }

  /// Called when a publication is done. It is done when all loops have taken it, or when all loops that answer in time
  /// have taken it.
  func settle(_ settlement: SwapMachine.Settlement) {
    typealias Found = (
      request: SwapRequest?, old: Snapshot, new: Snapshot, canary: Snapshot?, decided: CanaryProgress?
    )
    let found: Found? = state.withLock { state in
      guard let old = state.live[settlement.replaced], let new = state.live[settlement.snapshot] else {
        return nil
      }
      let request = state.requests[settlement.request]
      state.live.publish(new)
      // A canary that was published is decided when its probation has ended.
      let isUndecided = settlement.canary != nil || settlement.isOnProbation && state.canary?.snapshot === new
      let decided = isUndecided ? nil : state.canary
      if decided != nil { state.canary = nil }
      if new !== old { state.restorePoint = request?.kind.isReturn == false ? SwapState.RestorePoint(old) : nil }
      let canary = (settlement.canary ?? settlement.droppedCanary).flatMap { state.live[$0] }
      return (request, old, new, canary, decided)
    }
    guard let (request, old, new, canary, decided) = found else { return }
    let progress = decided ?? state.withLock { $0.canary }
    let silence = request?.kind.advancesCanary == true ? progress?.silence : nil
    let remarks = settlement.canaryStep == 0 ? [] : [endShadow(of: progress), silence]
    if settlement.canary == nil { endRecords(of: decided, publishing: new, after: old, request?.kind) }
    runtime.callOuts = new.configuration.callOutLimits
    if new !== old { new.serve(after: old) }
    if let canary { settle(canary, settlement, beside: new) }
    if new !== old { state.withLock { $0.canary?.beginProbation(after: old) } }
    if let request { answer(request, settlement, old, new, canary, remarks.compactMap(\.self)) }
  }

  private func answer(
    _ request: SwapRequest, _ settlement: SwapMachine.Settlement, _ old: Snapshot, _ new: Snapshot, _ canary: Snapshot?,
    _ remarks: [String]
  ) {
    var report = request.report(Self.outcome(request.kind, settlement), snapshot: new.number)
    let before = settlement.droppedCanary != nil && old === new ? canary ?? old : old
    let after = settlement.canary == nil ? new : canary ?? new
    report.changes = state.withLock { $0.changes[request.id] } ?? Self.changes(from: before, to: after)
    report.canary = share(settlement.canaryStep)
    report.endedCanary = settlement.droppedCanary
    report.late = settlement.late.map { watchdog.obstacle(on: $0, waiting: new.configuration.swap.publish) }
    var reasons = [request.reason].compactMap(\.self) + remarks
    if let dropped = settlement.droppedCanary, !request.kind.isAbort {
      reasons.append("this ended the canary of snapshot \(dropped)")
    }
    if !report.late.isEmpty {
      let words = report.late.map { "not on loop \($0.loop): \($0)" }.joined(separator: "; ")
      reasons.append(words + "; it gets the newest snapshot when it continues")
    }
    report.reason = reasons.isEmpty ? nil : reasons.joined(separator: "; ")
    finish(request.id, report, nil)
  }

  private static func outcome(
    _ kind: SwapQueue.Kind, _ settlement: SwapMachine.Settlement
  ) -> SwapReport.Outcome {
    if settlement.canary != nil { return .canary }
    return kind.isBreach || kind.isAbort ? .rolledBack : .published
  }

  /// The libraries whose builds differ between two snapshots.
  static func changes(from old: Snapshot, to new: Snapshot) -> [SwapReport.Change] {
    new.configuration.libraries.compactMap { library in
      let (before, after) = (old.generation(of: library), new.generation(of: library))
      guard before !== after else { return nil }
      return SwapReport.Change(
        library: library, plugins: new.configuration.plugins(of: library), old: before?.build, new: after?.build)
    }
  }
}
