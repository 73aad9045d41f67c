import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The threads that access files for all clients of the process. There are at most four, and each ends when no work
/// waits. They keep loops and threads of Swift's pool from waiting for a disk.
enum FileThreads {
  private struct State {
    var jobs = FIFOQueue<@Sendable () -> Void>()
    var threads = 0
  }

  private static let maximumThreads = 4
  private static let state = Locked(State())

  /// Runs the body on one of the threads, and waits for its result. A cancellation does not interrupt it.
  ///
  /// - Throws: `resources` if no thread can be started; the body is then never run.
  static func run<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async throws(TransactionError) -> Result {
    let result = await Handover<Result?>.wait { result in
      let isAccepted = accept { result.give(body()) }
      if !isAccepted { result.give(nil) }
    }
    guard let result else {
      throw TransactionError(
        code: .resources, message: "no thread for a file could be started; raise the limit of threads (ulimit -u)")
    }
    return result
  }

  private static func accept(_ job: @escaping @Sendable () -> Void) -> Bool {
    let needsThread = state.withLock { state in
      guard state.threads < maximumThreads else {
        state.jobs.append(job)
        return false
      }
      state.threads += 1
      return true
    }
    guard needsThread else { return true }
    if SystemThread.start("sluice-files", { work(from: job) }) { return true }
    return state.withLock { state in
      state.threads -= 1
      // One of the running threads will take the job.
      if state.threads > 0 { state.jobs.append(job) }
      return state.threads > 0
    }
  }

  private static func work(from first: @Sendable () -> Void) {
    first()
    while let job = next() { job() }
  }

  /// Takes the next job. If there is no job, returns nil, and this thread is no longer counted.
  private static func next() -> (@Sendable () -> Void)? {
    state.withLock { state in
      let job = state.jobs.popFirst()
      if job == nil { state.threads -= 1 }
      return job
    }
  }
}
