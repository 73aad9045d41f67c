import SluiceAssembly
import SluiceLoop
import SluicePipeline
import SluicePluginHost
import SluiceSupport

// Ends replaced snapshots.
extension SwapCoordinator {
  /// The time limit for deactivating and destroying the instances of an old snapshot.
  private static let endLimit = Duration.seconds(5)

  private func snapshot(_ number: Int) -> Snapshot? { state.withLock { $0.live[number] } }

  /// For each loop, sends `emptied` to the machine when no transaction runs on the snapshot any more. The newest
  /// publication was posted to the loops before this call. From here on, they therefore begin no new transaction on the
  /// snapshot.
  func watchLeases(_ number: Int, _ loops: [Int]) {
    guard let pipeline = snapshot(number)?.pipeline else { return }
    for loop in loops {
      workers[loop].loop.post { [self] in
        pipeline.leases[loop].notifyWhenNone { [self] in handle(.emptied(snapshot: number, loop: loop)) }
      }
    }
  }

  func expire(_ number: Int, _ loops: [Int]) {
    guard let snapshot = snapshot(number) else { return }
    let limit = published.configuration.swap.drain
    for loop in loops {
      let environment = workers[loop].environment
      workers[loop].loop.post {
        environment.expireSuspensions(
          on: snapshot.pipeline,
          reason: "its snapshot has been replaced, and the drain time of \(limit) has passed (swap.drain)")
      }
    }
  }

  /// Tells the machine whether notifications or scheduled work are unfinished in instances that no other snapshot has.
  func countCompletions(_ number: Int) {
    let (snapshot, others) = state.withLock { state in
      (state.live[number], state.live.all.filter { $0.number != number })
    }
    let isWorking =
      snapshot?.instances.contains { instance in
        instance.openWorkCounts.completions > 0 && !others.contains { $0.holds(instance) }
      } ?? false
    handle(.counted(snapshot: number, isWorking: isWorking))
  }

  func leak(_ number: Int) {
    guard let snapshot = snapshot(number) else { return }
    for record in alone(snapshot) {
      record.end(.parked("leaked: transactions still run on it, so it is never destroyed"))
      log(
        LogLine(
          level: .error, plugin: record.pluginID, generation: record.id, stage: record.plugins.first,
          message: "generation \(record.id) of \(record.library) does not drain: transactions still run on it; "
            + "it is parked and never destroyed"))
    }
  }

  /// The builds of the snapshot that belong to no other live snapshot.
  private func alone(_ snapshot: Snapshot) -> [GenerationRecord] {
    let others = state.withLock { $0.live.all.filter { $0 !== snapshot } }
    return snapshot.generations.filter { record in !others.contains { $0.holds(record) } }
  }

  func end(_ number: Int, _ reason: String) {
    let found = state.withLock { state in
      // It was given up before its first step.
      if state.canary?.snapshot.number == number { state.canary = nil }
      return state.live[number].map { (snapshot: $0, parts: state.release($0)) }
    }
    guard let found else { return handle(.ended(snapshot: number)) }
    let names = found.parts.map { "\"\($0.plugin.name)\"" }.joined(separator: ", ")
    let limit = Self.endLimit * (2 * max(found.parts.count, 1))
    Task.detached { [self] in
      let given = await ControlThread.run(within: limit) {
        found.parts.reversed().filter { !$0.end(within: Self.endLimit) }
      } late: { [self] _ in
        handle(.ended(snapshot: number))
      }
      park(found.snapshot, given ?? found.parts, reason)
      if given != nil { return handle(.ended(snapshot: number)) }
      log(
        LogLine(
          level: .error,
          message: "\(names) of snapshot \(number): deactivate or destroy has not returned within \(limit); the "
            + "remaining instances are left behind"))
    }
  }

  private func park(_ snapshot: Snapshot, _ given: [SnapshotPart], _ reason: String) {
    for record in alone(snapshot) {
      let isGiven = given.contains { $0.generation === record }
      record.end(
        .parked(isGiven ? "leaked: some of its calls did not return in time, so it is never destroyed" : reason))
      log(
        LogLine(
          level: isGiven ? .error : .debug, plugin: record.pluginID, generation: record.id,
          stage: record.plugins.first,
          message: "generation \(record.id) of \(record.library) is parked"
            + (isGiven ? ", and was not destroyed: some of its calls did not return in time" : "")))
    }
  }
}
