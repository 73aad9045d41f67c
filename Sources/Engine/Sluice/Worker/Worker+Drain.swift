import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport
import Synchronization

extension Worker {
  /// How long to wait for a loop's answer after its drain. The second limit applies to a slow loop, which still makes
  /// progress.
  static let answerLimit = Duration.seconds(1)
  private static let slowLimit = Duration.seconds(4)

  /// Waits until no transaction is running, but at most `limit`. Then ends the remaining transactions.
  /// - Returns: false if the loop did not answer, because it is in a call that does not return, or because its thread
  ///   has ended.
  func drain(for limit: Duration) async -> Bool {
    if await drain(for: limit, andThen: Self.answerLimit) { return true }
    guard !loop.pulse.hasDied, !isStuck else { return false }
    return await drain(for: .zero, andThen: Self.slowLimit)
  }

  private func drain(for limit: Duration, andThen grace: Duration) async -> Bool {
    await FirstAnswer<Bool>.race(within: limit + grace) { answer in
      owedNothing.withLock { $0 = answer }
      // If the thread has ended, the loop drops the posted job. This releases `end`, which gives the answer `false`.
      let end = LastRelease { answer.give(false) }
      loop.post { [self] in
        let deadline = loop.now + limit
        DrainWatch(self, deadline) { withExtendedLifetime(end) { _ = answer.give(true) } }.check()
      }
    } orElse: {
      false
    }
  }
}

/// Checks repeatedly whether a loop has become idle. Confined to the loop.
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
          code: .shutdown, message: "the engine was shut down before the transaction was done"))
    }
    guard worker.environment.runningCount > 0 || worker.submitted.load(ordering: .sequentiallyConsistent) > 0 else {
      return completion()
    }
    worker.loop.arm(timer, at: now + Self.interval, for: self)
  }

  func timerDidFire(_ timer: LoopTimer) { check() }
}
