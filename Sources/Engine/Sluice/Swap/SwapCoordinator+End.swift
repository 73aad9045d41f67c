import SluiceAssembly
import SluicePluginHost
import SluiceSupport

// The end of the engine.
extension SwapCoordinator {
  /// Accepts no further swaps, and waits at most `limit` for the current one to stop.
  func close(within limit: Duration) async {
    handle(.closed)
    guard state.withLock({ $0.machine.running != nil }) else { return }
    await ControlThread.run { [state] in _ = state.wait(upTo: limit) { $0.machine.running == nil ? true : nil } }
  }

  /// Delivers queued events to tracers, then deactivates and destroys the instances in reverse order. All transactions
  /// and swaps must have ended. Blocks for at most the limit plus a second, and plus a quarter of a second for each
  /// instance that does not return.
  ///
  /// - Parameter obstacles: what blocks the loops that did not end. If such a loop can continue later, the instances
  ///   are neither deactivated nor destroyed, because the loop might call them.
  func end(within limit: Duration, _ obstacles: [LoopObstacle]) {
    let deadline = MonotonicClock.now + limit
    func left() -> Duration { max(deadline - MonotonicClock.now, .zero) }
    _ = state.wait(upTo: limit) { state in
      state.machine.endingCount == 0 && state.actions.isEmpty && !state.isPerforming ? true : nil
    }
    leaveRecords()
    let parts = state.withLock { $0.live.all }.reversed().flatMap(\.parts)
    var ended: [SnapshotPart] = []
    for part in parts where part.instance != nil && !ended.contains(where: { $0.instance === part.instance }) {
      ended.append(part)
    }
    for part in ended { part.queuedTracer?.stop(within: left()) }
    if let obstacle = obstacles.first(where: { !$0.hasDied }) {
      runtime.close(within: left())
      sayKept(ended, because: obstacle)
    } else {
      let instances: [PluginInstance] = ended.compactMap(\.instance).reversed()
      // The instances are deactivated while the host still accepts work, so that an instance can send its remaining
      // data.
      let inactive = end(instances, until: deadline) { $0.deactivate(within: $1) }
      runtime.close(within: left())
      _ = end(inactive, until: deadline) { $0.destroy(within: $1) }
    }
    state.update { state in
      // The published snapshot is kept, because a program can query an engine that has ended.
      for snapshot in state.live.all.dropFirst() { _ = state.release(snapshot) }
      state.isOver = true
    }
  }

  private typealias Step = @Sendable (PluginInstance, _ limit: Duration) -> Void

  /// Deactivates or destroys each instance. An instance that does not return in time is left behind with its thread.
  /// The next instances get a new thread.
  /// - Returns: the instances that have returned.
  private func end(
    _ instances: [PluginInstance], until deadline: Duration, _ step: @escaping Step
  ) -> [PluginInstance] {
    var left = instances[...]
    var returned: [PluginInstance] = []
    while !left.isEmpty {
      let isLate = endInOrder(Array(left), until: deadline, step)
      guard let late = isLate else { return returned + left }
      returned += left.prefix { $0 !== late }
      log(
        LogLine(
          level: .error, plugin: late.generation.id, generation: late.generation.number, stage: late.name,
          message: "\"\(late.name)\" has not returned from deactivate or destroy in time; it is left behind"))
      left = left.drop { $0 !== late }.dropFirst()
    }
    return returned
  }

  /// Calls the instances in order. Returns the instance whose call does not return, and does not call the instances
  /// after it. Returns nil if all calls have returned.
  private func endInOrder(
    _ instances: [PluginInstance], until deadline: Duration, _ step: @escaping Step
  ) -> PluginInstance? {
    struct Progress {
      var current: PluginInstance?
      var isGivenUp = false
    }
    let progress = Monitor(Progress())
    let endAll: @Sendable () -> Void = {
      for instance in instances {
        let goesOn = progress.update { progress in
          progress.current = instance
          return !progress.isGivenUp
        }
        guard goesOn else { return }
        // An instance gets a minimum time even if the others have used up the whole limit.
        step(instance, max(deadline - MonotonicClock.now, Self.leastEndTime))
      }
      progress.update { $0.current = nil }
    }
    progress.withLock { $0.current = instances.first }
    guard SystemThread.start("sluice-end", endAll) else {
      endAll()
      return nil
    }
    var seen: PluginInstance?
    while true {
      // Each instance may take until the common deadline, but always has at least a short minimum time.
      let limit = max(deadline + Self.lastEndTime - MonotonicClock.now, Self.leastEndTime)
      let next = progress.wait(upTo: limit) { progress -> PluginInstance?? in
        // If there is no current instance, the other thread has finished, possibly before this thread first saw an
        // instance.
        progress.current != nil && progress.current === seen ? nil : .some(progress.current)
      }
      guard let next else {
        // The other thread might have reached the next instance by now. In this case, the next instance is returned as
        // late.
        return progress.update { progress in
          progress.isGivenUp = true
          return progress.current
        }
      }
      guard let next else { return nil }
      seen = next
    }
  }

  private static let lastEndTime = Duration.seconds(1)
  private static let leastEndTime = Duration.milliseconds(250)

  private func sayKept(_ parts: [SnapshotPart], because obstacle: LoopObstacle) {
    guard !parts.isEmpty else { return }
    let names = parts.map { "\"\($0.plugin.name)\"" }.joined(separator: ", ")
    log(
      LogLine(
        level: .error, stage: obstacle.call?.plugin,
        message:
          "\(names): neither deactivated nor destroyed, because \(obstacle); the loop might call them when it continues"
      ))
  }

  func sayLeftBehind(_ obstacle: LoopObstacle) {
    log(
      LogLine(
        level: .error, plugin: obstacle.call?.pluginID, generation: obstacle.call?.generation,
        stage: obstacle.call?.plugin, message: "the engine ended without one of its loops: \(obstacle)"))
  }
}
