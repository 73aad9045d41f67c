import CLinux
import Glibc
import SluiceSupport

/// Threads for calls that may block, such as calls of BLOCKING stages and control calls. The pool starts a thread when
/// it needs one, up to a limit. Beyond the limit, work waits.
final class BlockingPool: Sendable {
  struct Job: Sendable {
    let run: @Sendable () -> Void
    /// Called if `run` does not return because it ends the thread with `pthread_exit`.
    let threadEnded: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void, threadEnded: @escaping @Sendable () -> Void = {}) {
      self.run = run
      self.threadEnded = threadEnded
    }
  }

  /// One thread, and its current job. Unchecked because only that thread touches it.
  private final class Runner: @unchecked Sendable {
    let pool: BlockingPool
    var job: Job?

    init(_ pool: BlockingPool) { self.pool = pool }

    func run() {
      while let job = pool.next() {
        self.job = job
        job.run()
        self.job = nil
      }
    }
  }

  private struct State {
    var jobs = FIFOQueue<Job>()
    var threads = 0
    /// The number of threads without a job. It includes a woken thread that has not taken its job yet.
    var idle = 0
    var isClosed = false
  }

  private let maximumThreads: Int
  private let state = Monitor(State())

  private let name: String

  /// - Parameter name: the name of its threads; up to 15 bytes.
  init(maximumThreads: Int, name: String = "sluice-blocking") {
    self.maximumThreads = max(1, maximumThreads)
    self.name = name
  }

  /// Runs the job on a thread. Returns false if the pool is closed, or if it has no thread and cannot start one.
  func submit(_ job: Job) -> Bool {
    state.update { state in
      if state.isClosed { return false }
      if state.idle <= state.jobs.count, state.threads < maximumThreads {
        // The thread is started with the lock held, so that no other caller relies on a thread that fails to start.
        if startThread() {
          state.threads += 1
        } else if state.threads == 0 {
          return false
        }
      }
      state.jobs.append(job)
      return true
    }
  }

  /// Accepts no further work, drops calls that have not begun, and waits for the others. Returns false if they take
  /// longer than the limit.
  func close(within limit: Duration) -> Bool {
    let dropped = state.update { state in
      state.isClosed = true
      let jobs = state.jobs
      state.jobs = FIFOQueue()
      return jobs
    }
    _ = dropped
    return state.wait(upTo: limit) { $0.threads == 0 ? true : nil } ?? false
  }

  private func startThread() -> Bool {
    // The closure does not retain the runner. A call that ends its thread with `pthread_exit` leaks the closure, and a
    // leaked closure must not keep the pool alive.
    let context = Unmanaged.passRetained(Runner(self))
    let isStarted = SystemThread.start(name) {
      sluice_watch_thread(context.toOpaque()) { BlockingPool.threadEnded(Unmanaged<Runner>.fromOpaque($0)) }
      context.takeUnretainedValue().run()
      sluice_unwatch_thread()
      BlockingPool.threadEnded(context)
    }
    if !isStarted { context.release() }
    return isStarted
  }

  /// Ends the thread's part in the pool, and releases the reference that `startThread` has retained.
  private static func threadEnded(_ context: Unmanaged<Runner>) {
    let runner = context.takeRetainedValue()
    runner.pool.state.update { $0.threads -= 1 }
    runner.job?.threadEnded()
    runner.job = nil
  }

  fileprivate func next() -> Job? {
    ThreadWatcher.yield()
    state.withLock { $0.idle += 1 }
    return state.wait { state -> Job?? in
      let job = state.jobs.popFirst()
      guard job != nil || state.isClosed else { return nil }
      state.idle -= 1
      return .some(job)
    }
  }
}
