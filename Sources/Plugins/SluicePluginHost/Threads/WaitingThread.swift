import SluiceSupport

/// A thread that waits for a task and runs the task's jobs itself. So neither the wait nor the task needs a thread of
/// Swift's pool.
package final class WaitingThread: TaskExecutor {
  private struct State {
    var jobs = FIFOQueue<UnownedJob>()
    var hasEnded = false
  }

  private let state = Monitor(State())

  private init() {}

  /// Blocks until the body has returned. The body must limit its own waits.
  package static func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let thread = WaitingThread()
    let value = Locked<Value?>(nil)
    Task.detached(executorPreference: thread) {
      let result = await body()
      value.withLock { $0 = result }
      thread.state.update { $0.hasEnded = true }
    }
    while true {
      let job: UnownedJob? = thread.state.wait { state in
        state.jobs.popFirst().map { .some($0) } ?? (state.hasEnded ? .some(nil) : nil)
      }
      if let job {
        job.runSynchronously(on: thread.asUnownedTaskExecutor())
      } else if let value = value.withLock({ $0 }) {
        return value
      }
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // This reference keeps the object alive until the call ends. It is needed because the runtime has no reference, and
    // the waiting thread can run the job and release the object before this function returns.
    let kept = Unmanaged.passRetained(self)
    state.update { $0.jobs.append(job) }
    kept.release()
  }
}
