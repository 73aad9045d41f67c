/// Polls until a condition holds. Returns false if it does not hold in time.
///
/// Only for facts that nothing reports, such as the end of a process that is not a child. Otherwise wait for a
/// ``Signal`` or a ``Watched``.
package func eventually(
  upTo limit: Duration = Patience.limit, _ isMet: () async throws -> Bool
) async throws -> Bool {
  let end = ContinuousClock.now + limit
  while ContinuousClock.now < end {
    if try await isMet() { return true }
    // The pause leaves the processor to what the test waits for.
    try await Task.sleep(for: .milliseconds(2))
  }
  return try await isMet()
}

/// Makes the process open the descriptor of the timer for tasks, which it otherwise opens when a task first sleeps. A
/// test that compares numbers of descriptors calls it before it counts for the first time.
package func openTimerOfTasks() async throws {
  var isSecond = false
  _ = try await eventually {
    defer { isSecond = true }
    return isSecond
  }
}

/// Suspends until the task is cancelled, and then throws: what a stage or a delegate does that never decides.
package func untilCancelled() async throws {
  for await _ in AsyncStream(Never.self, { _ in }) {}
  throw CancellationError()
}
