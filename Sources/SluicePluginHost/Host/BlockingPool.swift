import SluiceLocks
import CLinux
import Glibc

/// Threads for calls that may block: BLOCKING stages, control calls. Started one by one as they are needed, up to a bound; then work waits.
final class BlockingPool: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var jobs = FIFOQueue<Job>()
    var threads = 0
    /// Threads that have no job; one that was woken counts until it takes its job.
    var idle = 0
    var isClosed = false
  }

  private let maximumThreads: Int
  private let state = Monitor(State())

  private let name: String

  /// - Parameter name: of its threads; up to 15 bytes.
  init(maximumThreads: Int, name: String = "sluice-blocking") {
    self.maximumThreads = max(1, maximumThreads)
    self.name = name
  }

  /// Runs the job on a thread; false when the pool is closed or has no thread at all and gets none.
  func submit(_ job: @escaping Job) -> Bool {
    state.update { state in
      if state.isClosed { return false }
      if state.idle <= state.jobs.count, state.threads < maximumThreads {
        // Started with the lock held, so that nobody counts on a thread that does not come into being.
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

  /// Takes no more work, drops what has not begun, and waits for what has; false when that took longer than the limit.
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
    let context = Unmanaged.passRetained(self)
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        // Balances passRetained: the thread keeps its pool.
        guard let context else { return nil }
        let pool = Unmanaged<BlockingPool>.fromOpaque(context).takeRetainedValue()
        sluice_name_thread(pool.name)
        pool.work()
        return nil
      }, context.toOpaque())
    guard status == 0 else {
      context.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  private func work() {
    while let job = next() { job() }
    state.update { $0.threads -= 1 }
  }

  private func next() -> Job? {
    state.withLock { $0.idle += 1 }
    return state.wait { state -> Job?? in
      let job = state.jobs.popFirst()
      guard job != nil || state.isClosed else { return nil }
      state.idle -= 1
      return .some(job)
    }
  }
}
