import SluiceMessages

// The limit for the time in which nothing happens (``RequestOptions/idleTimeout``).
extension Transaction {
  /// Starts the limit, when the sending of the request begins.
  func beginIdle() {
    guard let limit = options?.value.idleTimeout else { return }
    deadlines.lastActivity = loop.now
    deadlines.idle = deadlines.lastActivity + limit
    armTimer()
  }

  /// Called when a byte was sent or received, or when the caller has continued to read. Notes only the time;
  /// ``Deadlines/idle`` is moved only when it passes.
  func noteActivity() {
    if deadlines.idle != .distantFuture { deadlines.lastActivity = loop.now }
  }

  func endIdle() { deadlines.idle = .distantFuture }

  func idlePassed(at now: Instant) {
    guard let limit = options?.value.idleTimeout else { return endIdle() }
    // The attempt's clock stops while the transfer waits for a stage, the sink or the caller's stream.
    let due =
      !deadlines.isHeld && !isSuspended ? deadlines.lastActivity + limit : now + max(limit, .milliseconds(1))
    guard due <= now else {
      deadlines.idle = due
      return
    }
    endIdle()
    let failure = TransportError(
      .timeout,
      "nothing was sent to \(shownURL), and nothing came from it, for \(limit), the idle timeout of the request")
    notes?.recorder?.willCut(failure)
    run(.attemptTimedOut(TransactionError(failure)))
  }
}
