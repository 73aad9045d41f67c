import Glibc
import SluiceSupport

/// Runs the remaining jobs of tasks when the host accepts no more, on a thread that ends when no job is left. It does
/// not use threads of Swift's runtime, because a plugin must not start such threads in its host program.
enum RemainingJobs {
  private struct Piece {
    let job: UnownedJob
    let executor: any TaskExecutor
  }

  private struct State {
    var pieces: [Piece] = []
    var hasThread = false
    let process = getpid()
  }

  private static let state = Locked(State())

  /// Runs the job later, in order. [any]
  static func run(_ job: UnownedJob, on executor: any TaskExecutor) {
    let isFirst = state.withLock { state in
      // A child of fork() does not have the thread of its parent.
      if state.process != getpid() { state = State() }
      state.pieces.append(Piece(job: job, executor: executor))
      defer { state.hasThread = true }
      return !state.hasThread
    }
    guard isFirst else { return }
    // If no thread can be started, the calling thread runs the jobs.
    if !SystemThread.start(nil, work) { work() }
  }

  private static func work() {
    while let piece = next() {
      ThreadWatcher.yield()
      piece.job.runSynchronously(on: piece.executor.asUnownedTaskExecutor())
    }
  }

  private static func next() -> Piece? {
    state.withLock { state in
      guard !state.pieces.isEmpty else {
        state.hasThread = false
        return nil
      }
      return state.pieces.removeFirst()
    }
  }
}
