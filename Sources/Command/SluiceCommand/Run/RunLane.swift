import SluiceJSON
import SluiceLoop
import SluiceSupport
import Synchronization

/// The part of a run that belongs to one event loop. It holds results that the session has not got yet, and jobs that
/// the loop will begin.
///
/// A loop collects the results of a turn here and hands them over together. It therefore needs the lock of the session
/// only once per turn, and not once per line. Threads compete for that lock. A lane has locks because its loop can be
/// stalled: another thread then hands over the collected results. That thread also begins the jobs that the lane has
/// taken but not begun.
final class RunLane: Sendable {
  /// The results of a turn.
  struct Results: ~Copyable {
    /// The result lines.
    var text = JSONText(capacity: RunLane.keptBytes)
    var count = 0
    /// How many of the results are errors.
    var failed = 0
    /// How many of the results belong to jobs that the lane itself took from the queue.
    var taken = 0
    /// The ended jobs; empty if there are no limits for hosts.
    var jobs: [RunJob] = []
  }

  /// If this number of bytes is reached, the results are handed over before the end of the turn.
  static let fullBytes = 256 << 10
  private static let keptBytes = 64 << 10

  let loop: Loop
  private let results = Locked(Results())
  private let jobs = Locked(FIFOQueue<RunJob>())
  /// Whether a turn of the lane has been posted to the loop and has not begun.
  private let isPosted = Atomic<Bool>(false)

  init(_ loop: Loop) { self.loop = loop }

  /// - Returns: how many bytes of results are waiting.
  func add(_ body: (inout Results) -> Void) -> Int {
    results.withLock { results in
      body(&results)
      return results.text.count
    }
  }

  /// Lends the results to `body`, then clears them. Can be called on any thread.
  func take<Taken: Sendable>(_ body: (borrowing Results) -> Taken) -> Taken {
    results.withLock { results in
      defer {
        results.text.removeAll(keepingCapacity: Self.keptBytes)
        (results.count, results.failed, results.taken, results.jobs) = (0, 0, 0, [])
      }
      return body(results)
    }
  }

  /// Stores jobs that the loop will begin in this turn.
  func keep(_ taken: [RunJob]) {
    jobs.withLock { jobs in
      for job in taken { jobs.append(job) }
    }
  }

  /// Returns a job to begin. Can be called on any thread.
  func nextJob() -> RunJob? { jobs.withLock { $0.popFirst() } }

  /// Runs the turn on the loop, unless a turn is already posted. Can be called on any thread.
  func post(_ turn: @escaping @Sendable () -> Void) {
    guard !isPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
    loop.post(turn)
  }

  /// Must be called at the beginning of a turn. If ``post(_:)`` is called after it, another turn follows.
  func turnBegins() { _ = isPosted.exchange(false, ordering: .acquiringAndReleasing) }
}
