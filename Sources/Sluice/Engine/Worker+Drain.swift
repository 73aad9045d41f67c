import SluiceLocks
import SluicePipeline
import SluiceTransport
import Synchronization

extension Worker {
  /// Waits until no transaction is running, at most so long; then ends those that are left.
  func drain(for limit: Duration) async {
    await Handover.wait { end in
      loop.post { [self] in
        let deadline = loop.now + limit
        DrainWatch(self, deadline) { end.give() }.check()
      }
    }
  }
}

/// Looks again and again whether a loop has become idle. Confined to the loop.
private final class DrainWatch: LoopTimerTarget, @unchecked Sendable {
  private static let interval = Duration.milliseconds(5)

  private let worker: Worker
  private let deadline: Instant
  private let completion: () -> Void
  private let timer = LoopTimer()

  init(_ worker: Worker, _ deadline: Instant, _ completion: @escaping () -> Void) {
    self.worker = worker
    self.deadline = deadline
    self.completion = completion
  }

  func check() {
    let now = worker.loop.now
    if worker.environment.runningCount > 0, now >= deadline {
      worker.environment.abortAll(
        TransactionError(
          code: TransactionError.Code.shutdown, message: "the engine was shut down before the transaction was done"))
    }
    guard worker.environment.runningCount > 0 || worker.submitted.load(ordering: .sequentiallyConsistent) > 0 else {
      return completion()
    }
    worker.loop.arm(timer, at: now + Self.interval, for: self)
  }

  func timerDidFire(_ timer: LoopTimer) { check() }
}

extension Engine {
  /// What each loop has not brought to an end: transactions and suspended calls. Only after ``shutdown(drain:)``, when no
  /// loop runs any more.
  package var unfinished: [Int] {
    workers.map { $0.environment.runningCount + $0.environment.suspensions.suspendedCount }
  }
}
