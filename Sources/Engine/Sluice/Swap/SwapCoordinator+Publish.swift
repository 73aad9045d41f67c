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
    for record in published.generations { record.hasServed = true }
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
    let newest = state.update { state in
      state.actions += state.machine.handle(.took(loop: worker.loop.index), at: MonotonicClock.now)
      return state.live[state.machine.newest.snapshot]
    }
    if let newest { worker.pipeline = newest.pipeline }
  }

  /// Called when a publication is done. It is done when all loops have taken it, or when all loops that answer in time
  /// have taken it.
  func settle(_ settlement: SwapMachine.Settlement) {
    let found: (request: SwapRequest?, old: Snapshot, new: Snapshot)? = state.withLock { state in
      guard let old = state.live[settlement.replaced], let new = state.live[settlement.snapshot] else {
        return nil
      }
      let request = state.requests[settlement.request]
      state.live.publish(new)
      state.restorePoint = request?.kind.isReturn == false ? SwapState.RestorePoint(old) : nil
      return (request, old, new)
    }
    guard let (request, old, new) = found else { return }
    runtime.callOuts = new.configuration.callOutLimits
    new.serve(after: old)
    if let request { answer(request, settlement, old, new) }
  }

  private func answer(
    _ request: SwapRequest, _ settlement: SwapMachine.Settlement, _ old: Snapshot, _ new: Snapshot
  ) {
    var report = request.report(request.kind.isBreach ? .rolledBack : .published, snapshot: new.number)
    report.changes = state.withLock { $0.changes[request.id] } ?? Self.changes(from: old, to: new)
    report.late = settlement.late.map { watchdog.obstacle(on: $0, waiting: new.configuration.swap.publish) }
    report.reason = request.reason
    if !report.late.isEmpty {
      let words = report.late.map { "not on loop \($0.loop): \($0)" }.joined(separator: "; ")
      report.reason = [request.reason, words + "; it gets the newest snapshot when it continues"].compactMap(\.self)
        .joined(separator: "; ")
    }
    finish(request.id, report, nil)
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
