import SluiceLocks
import SluicePipeline
import SluiceTransport

/// Something that is done once on every loop, and waited for.
enum LoopRound {
  /// Returns when each loop has run the body, or has ended without.
  static func run(on workers: [Worker], _ body: @escaping @Sendable (Worker) -> Void) async {
    await Handover.wait { done in
      let end = LastRelease { done.give() }
      for worker in workers {
        worker.loop.post { withExtendedLifetime(end) { body(worker) } }
      }
    }
  }

  /// Returns when no transaction runs on the pipeline any more. No new one must begin on it: every loop has another.
  static func waitForLeases(on workers: [Worker], of pipeline: Pipeline) async {
    await Handover.wait { done in
      let end = LastRelease { done.give() }
      for worker in workers {
        worker.loop.post {
          pipeline.leases[worker.loop.index].notifyWhenNone { withExtendedLifetime(end) {} }
        }
      }
    }
  }
}

/// Runs its body when the last of those that hold it lets go: also one that was never run.
private final class LastRelease: Sendable {
  private let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  deinit { body() }
}

/// Something that happens once, and that tasks wait for with patience of their own.
final class Occurrence: Sendable {
  private struct State: Sendable {
    var hasHappened = false
    var waiting: [@Sendable () -> Void] = []
  }
  private let state = Locked(State())

  func happen() {
    let waiting = state.withLock { state in
      state.hasHappened = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for wake in waiting { wake() }
  }

  /// Calls once, now or when it happens.
  func whenHappened(_ body: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      if !state.hasHappened { state.waiting.append(body) }
      return state.hasHappened
    }
    if isLate { body() }
  }
}
