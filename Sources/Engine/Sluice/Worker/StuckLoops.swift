import SluiceAssembly
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport
import Synchronization

/// Handles the requests of stuck loops. Called by the watchdog, and at the end of the engine.
struct StuckLoops: Sendable {
  let workers: [Worker]
  /// Whether the engine is being shut down. If so, requests are not moved to other loops, because the drain ends them.
  let isClosed: @Sendable () -> Bool

  func mark(_ loop: Int, _ isStuck: Bool) { workers[loop].environment.isStuck.store(isStuck, ordering: .relaxed) }

  /// Moves requests that the loop has not begun to other loops. Ends requests that it has begun and whose deadline has
  /// passed. If the loop is abandoned, ends all requests that it has begun.
  func relieve(_ obstacle: LoopObstacle, _ settings: Watchdog.Settings) {
    let worker = workers[obstacle.loop]
    let isAbandoned = obstacle.hasDied || obstacle.age >= settings.abandon
    move(from: worker, obstacle, isAbandoned)
    _ = worker.environment.completeStalled(dueAt: isAbandoned ? nil : worker.loop.now) { age in
      Self.error(obstacle, running: age)
    }
    // If the loop is only busy, it will answer the drain itself.
    guard isClosed(), obstacle.age >= Worker.answerLimit || obstacle.hasDied, !worker.environment.owesResults,
      worker.submissions.isEmpty
    else { return }
    worker.owedNothing.withLock { $0 }?.give(false)
  }

  /// Ends all requests of a loop, begun or not. Must not be called on the thread of that loop.
  func end(_ worker: Worker, because obstacle: LoopObstacle) {
    for submission in worker.takeSubmissions() { submission.refuse(Self.neverBegan(obstacle)) }
    _ = worker.environment.completeStalled(dueAt: nil) { Self.error(obstacle, running: $0) }
  }

  private func move(from worker: Worker, _ obstacle: LoopObstacle, _ isAbandoned: Bool) {
    let other = isClosed() ? nil : Worker.moving(workers, after: obstacle.loop)
    guard other != nil || isAbandoned else { return }
    for submission in worker.takeSubmissions() {
      guard let other = Worker.moving(workers, after: obstacle.loop), other !== worker else {
        submission.refuse(Self.neverBegan(obstacle))
        continue
      }
      other.submitted.wrappingAdd(1, ordering: .sequentiallyConsistent)
      other.enqueue(submission)
    }
  }

  private static func error(_ obstacle: LoopObstacle, running age: Duration) -> TransactionError {
    TransactionError(
      code: .stalled,
      message: "its loop is stuck: \(obstacle); the transaction had been running for "
        + "\(age.milliseconds) ms, and its request might have been sent",
      stage: obstacle.call?.plugin)
  }

  private static func neverBegan(_ obstacle: LoopObstacle) -> TransactionError {
    TransactionError(
      code: .stalled,
      message: "it was never begun, because its loop is stuck: \(obstacle)",
      stage: obstacle.call?.plugin, isBeforeSending: true)
  }
}
