import SluiceSupport

/// Runs the `[control]` calls of an active instance one at a time, in order, on the threads of a pool.
///
///     closed to calls, which wait ── open() ── calls … ── close(within:)
final class ControlQueue: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var jobs = FIFOQueue<Job>()
    var isOpen = false
    var isClosed = false
    /// Whether a thread has been requested from the pool and has not finished its job yet.
    var isUnderWay = false
    var isInCall = false
  }

  private let pool: BlockingPool
  private let state = Monitor(State())

  init(pool: BlockingPool) { self.pool = pool }

  /// Runs the waiting calls, and from now on each new call.
  func open() {
    state.withLock { $0.isOpen = true }
    proceed()
  }

  /// Runs the job after the earlier ones. Returns false, without running the job, if the queue is closed.
  func submit(_ job: @escaping Job) -> Bool {
    let isTaken = state.withLock { state in
      if !state.isClosed { state.jobs.append(job) }
      return !state.isClosed
    }
    if isTaken { proceed() }
    return isTaken
  }

  /// Accepts no further calls, drops calls that have not begun, and waits for the running call. Returns false if that
  /// call has not returned within the limit.
  func close(within limit: Duration) -> Bool {
    let dropped = state.withLock { state in
      state.isClosed = true
      defer { state.jobs = FIFOQueue() }
      return state.jobs
    }
    _ = dropped
    return state.wait(upTo: limit) { $0.isInCall ? nil : true } ?? false
  }

  /// Requests a thread from the pool if there is a job and the thread of the previous request has finished. Each
  /// request runs one job, so that an instance with many jobs leaves threads to other instances.
  private func proceed() {
    let isNeeded = state.withLock { state in
      guard state.isOpen, !state.isUnderWay, !state.jobs.isEmpty else { return false }
      state.isUnderWay = true
      return true
    }
    guard isNeeded,
      !pool.submit(
        BlockingPool.Job { [self] in
          runNext()
        } threadEnded: { [self] in
          didRun()
        })
    else { return }
    // The pool is closed, or it could not start a thread. The next `submit` requests a thread again.
    state.withLock { $0.isUnderWay = false }
  }

  private func runNext() {
    let job = state.withLock { state in
      let job = state.jobs.popFirst()
      state.isInCall = job != nil
      return job
    }
    job?()
    didRun()
  }

  private func didRun() {
    state.update {
      $0.isInCall = false
      $0.isUnderWay = false
    }
    proceed()
  }
}
