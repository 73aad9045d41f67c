package import SluiceAssembly
import SluiceLoop
import SluicePipeline
import SluicePluginHost
import SluiceSupport
import Synchronization

extension Engine {
  /// How long the shutdown waits for the end of a drained loop, and for a log function that does not return.
  private static let endLimit = Duration.seconds(5)

  /// Ends the engine. Transactions in flight can finish within `drain`. After this time, they fail with the code
  /// `shutdown`. Transactions that are submitted from now on fail at once with the same code. At the end, the instances
  /// are deactivated and the loops are joined. Must not be called on a loop.
  ///
  /// Returns at most a few seconds after `drain` and `deactivation`. A loop whose stage does not return is left behind,
  /// and the log names the stage. The transactions on this loop fail with `stalled`. Its thread stays, and the
  /// instances that it can call are neither deactivated nor destroyed.
  ///
  /// - Parameter deactivation: the time limit for the instances to finish their work.
  public func shutdown(drain: Duration = .seconds(30), deactivation: Duration = .seconds(5)) async {
    _ = await end(drain: drain, deactivation: deactivation)
  }

  /// Does the work of ``shutdown(drain:deactivation:)``. Returns what blocks each loop that was left behind.
  package func end(drain: Duration, deactivation: Duration) async -> [LoopObstacle] {
    guard !isClosed.exchange(true, ordering: .sequentiallyConsistent) else { return [] }
    await updater.withLock { $0 }?.engineWillEnd()
    let began = MonotonicClock.now
    // The loops are drained concurrently, so that a slow loop does not shorten the time of the others.
    let silent = await withTaskGroup(of: Worker?.self) { group in
      group.addTask { [swaps] in
        await swaps.close(within: drain)
        return nil
      }
      for worker in workers { group.addTask { await worker.drain(for: drain) ? nil : worker } }
      return await group.reduce(into: [Worker]()) { if let worker = $1 { $0.append(worker) } }
    }
    let stuck = StuckLoops(workers: workers) { true }
    let obstacles = silent.map { worker in
      swaps.watchdog.obstacle(on: worker.loop.index, waiting: MonotonicClock.now - began)
    }
    for (worker, obstacle) in zip(silent, obstacles) { stuck.end(worker, because: obstacle) }
    return await ControlThread.run { [swaps, workers] in
      swaps.end(within: deactivation, obstacles)
      // There is no further wait for a loop that did not answer.
      let left = workers.filter { worker in
        !worker.loop.shutdown(within: silent.contains { $0 === worker } ? .zero : Self.endLimit)
      }
      let all = left.map { worker in
        obstacles.first { $0.loop == worker.loop.index }
          ?? swaps.watchdog.obstacle(on: worker.loop.index, waiting: Self.endLimit)
      }
      for obstacle in all { swaps.sayLeftBehind(obstacle) }
      swaps.watchdog.stop(within: Self.endLimit)
      swaps.stuckLoopObserver.withLock { $0 = nil }
      return all
    }
  }
}

extension Engine {
  /// The unfinished transactions and suspended calls of each loop. Must be called only after
  /// ``shutdown(drain:deactivation:)``, when no loop runs.
  package var unfinished: [Int] {
    workers.map { $0.environment.runningCount + $0.environment.suspensions.suspendedCount }
  }
}
