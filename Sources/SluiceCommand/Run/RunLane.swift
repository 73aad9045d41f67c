import SluiceJSON
import SluiceLoop
import SluiceSupport
import Synchronization

/// What one event loop has of a run: results that the session does not have yet, and jobs to begin.
///
/// A loop collects the results of a turn here and hands them over together, so that a line costs the loop no lock which
/// other threads compete for. The locks of a lane are for a loop that stands still: another thread then hands over what the
/// loop has collected, and begins the jobs that it has taken and not begun.
final class RunLane: Sendable {
  /// The results of a turn.
  struct Results: ~Copyable {
    /// The result lines.
    var text = JSONBytes(capacity: RunLane.keptBytes)
    var count = 0
    /// How many of them are errors.
    var failed = 0
    /// How many of them the lane had taken from the queue itself.
    var taken = 0
    /// The jobs; empty if nobody counts the jobs of a host.
    var jobs: [RunJob] = []
  }

  /// With more bytes, results are handed over before the end of the turn.
  static let fullBytes = 256 << 10
  private static let keptBytes = 64 << 10

  let loop: Loop
  private let results = Locked(Results())
  private let jobs = Locked(FIFOQueue<RunJob>())
  /// Whether a turn of the lane waits on the loop.
  private let isPosted = Atomic<Bool>(false)

  init(_ loop: Loop) { self.loop = loop }

  /// - Returns: how many bytes of results wait.
  func add(_ body: (inout Results) -> Void) -> Int {
    results.withLock { results in
      body(&results)
      return results.text.count
    }
  }

  /// Lends the results and forgets them; from any thread.
  func take<Taken: Sendable>(_ body: (borrowing Results) -> Taken) -> Taken {
    results.withLock { results in
      defer {
        results.text.removeAll(keepingCapacity: Self.keptBytes)
        (results.count, results.failed, results.taken, results.jobs) = (0, 0, 0, [])
      }
      return body(results)
    }
  }

  /// Keeps jobs that the loop will begin in this turn.
  func keep(_ taken: [RunJob]) {
    jobs.withLock { jobs in
      for job in taken { jobs.append(job) }
    }
  }

  /// A job to begin. From any thread.
  func nextJob() -> RunJob? { jobs.withLock { $0.popFirst() } }

  /// Runs the turn on the loop, unless one waits there already. From any thread.
  func post(_ turn: @escaping @Sendable () -> Void) {
    guard !isPosted.exchange(true, ordering: .acquiringAndReleasing) else { return }
    loop.post(turn)
  }

  /// Call it first in a turn: what comes later needs another one.
  func turnBegins() { _ = isPosted.exchange(false, ordering: .acquiringAndReleasing) }
}
