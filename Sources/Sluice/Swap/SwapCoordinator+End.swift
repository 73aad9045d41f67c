import SluiceLocks
import SluicePluginHost
import SluiceTransport

// The end of the engine.
extension SwapCoordinator {
  /// Accepts no more swaps, and waits at most `limit` for the one under way to stop.
  func close(within limit: Duration) async {
    handle(.closed)
    guard state.withLock({ $0.machine.running != nil }) else { return }
    await ControlThread.run { [state] in _ = state.wait(upTo: limit) { $0.machine.running == nil ? true : nil } }
  }

  /// Delivers what is queued, then deactivates and destroys the instances in reverse order. All transactions and swaps
  /// must be over. Blocks for at most a few times the limit.
  ///
  /// - Parameter obstacles: what keeps the loops that did not end. If such a loop may come back, the instances stay as
  ///   they are, because it may call them.
  func end(within limit: Duration, _ obstacles: [LoopObstacle]) {
    _ = state.wait(upTo: limit) { $0.machine.endingCount == 0 && $0.actions.isEmpty ? true : nil }
    let parts = state.withLock { $0.snapshots }.reversed().flatMap(\.parts)
    var ended: [SnapshotPart] = []
    for part in parts where part.instance != nil && !ended.contains(where: { $0.instance === part.instance }) {
      ended.append(part)
    }
    for part in ended { part.queuedTracer?.stop(within: limit) }
    runtime.close(within: limit)
    if let obstacle = obstacles.first(where: { !$0.hasDied }) {
      sayKept(ended, because: obstacle)
    } else {
      destroy(ended.compactMap(\.instance).reversed(), within: limit)
    }
    state.update { state in
      // The published snapshot is kept, for queries to an engine that has ended.
      for snapshot in state.snapshots.dropFirst() { _ = state.release(snapshot) }
      state.isOver = true
    }
  }

  /// Runs on a thread of its own, which is left behind when a call does not return.
  private func destroy(_ instances: [PluginInstance], within limit: Duration) {
    let current = Monitor<PluginInstance?>(nil)
    let isDone = Monitor(false)
    let destroyAll: @Sendable () -> Void = {
      for instance in instances {
        current.withLock { $0 = instance }
        instance.destroy(within: limit)
      }
      isDone.update { $0 = true }
    }
    guard DetachedThread.start("sluice-end", destroyAll) else { return destroyAll() }
    let bound = (limit + .seconds(1)) * (2 * max(instances.count, 1))
    guard isDone.wait(upTo: bound, { $0 ? true : nil }) == nil, let stuck = current.withLock({ $0 }) else { return }
    log(
      LogLine(
        level: .error, plugin: stuck.generation.id, generation: stuck.generation.number, stage: stuck.name,
        message: "\"\(stuck.name)\" has not returned from deactivate or destroy within \(bound); it and the "
          + "instances after it are left behind"))
  }

  private func sayKept(_ parts: [SnapshotPart], because obstacle: LoopObstacle) {
    guard !parts.isEmpty else { return }
    let names = parts.map { "\"\($0.plugin.name)\"" }.joined(separator: ", ")
    log(
      LogLine(
        level: .error, stage: obstacle.call?.plugin,
        message: "\(names): neither deactivated nor destroyed, because \(obstacle), "
          + "and may call them when it comes back"))
  }

  func sayLeftBehind(_ obstacle: LoopObstacle) {
    log(
      LogLine(
        level: .error, plugin: obstacle.call?.pluginID, generation: obstacle.call?.generation,
        stage: obstacle.call?.plugin, message: "the engine ended without one of its loops: \(obstacle)"))
  }
}
