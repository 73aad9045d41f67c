import SluiceMessages
import SluiceSupport

/// Jobs that were read ahead, first in, first out. The queue is bounded in number and bytes, so that memory does not
/// grow with the input.
///
/// If there are limits for hosts, a job whose host is at its limit waits aside, and jobs of other hosts pass it. A slow
/// host then delays other hosts only if its own jobs fill the queue.
struct RunQueue {
  private static let maximumBytes = 8 << 20
  /// In addition, the reader holds at most this many jobs, and roughly this many bytes.
  static let batch = (count: 32, bytes: 64 << 10)

  private let limits: HostLimits
  private let maximumCount: Int
  /// Jobs that may begin.
  private var ready = FIFOQueue<RunJob>()
  /// The hosts of jobs; empty if there are no limits for hosts.
  private var hosts: [Origin: Host] = [:]
  /// Hosts at which a job has just begun, and when the next job may begin, by the monotonic clock; in the order of
  /// these times.
  private var resting = FIFOQueue<(origin: Origin, end: Duration)>()
  private var count = 0
  private var bytes = 0

  /// A host that has jobs which have not ended, or at which the next job must still wait.
  private struct Host {
    /// The number of jobs in flight or ready to begin.
    var taken = 0
    /// Whether the next job must not be admitted, because a job is ready or has just begun.
    var isResting = false
    var waiting = FIFOQueue<RunJob>()
  }

  init(_ limits: HostLimits = HostLimits()) {
    self.limits = limits
    // With limits for hosts, the queue is longer, so that jobs of other hosts are found behind those of a host at its
    // limit.
    maximumCount = limits.isNone ? 512 : 8192
  }

  var isEmpty: Bool { count == 0 }

  var isFull: Bool { count >= maximumCount || bytes >= Self.maximumBytes }
  /// Whether there is enough room to make waking the reader worthwhile.
  var isHalfEmpty: Bool { count <= maximumCount / 2 && bytes <= Self.maximumBytes / 2 }

  mutating func append(_ job: RunJob) {
    count += 1
    bytes += job.lineBytes
    guard !limits.isNone else { return ready.append(job) }
    hosts[job.origin, default: Host()].waiting.append(job)
    admit(at: job.origin)
  }

  /// Takes the next job that may begin; nil also if all jobs wait for their hosts. ``end(_:)`` must follow.
  mutating func popFirst() -> RunJob? {
    let now = limits.interval == nil ? .zero : MonotonicClock.now
    endRests(at: now)
    guard let job = ready.popFirst() else { return nil }
    if let interval = limits.interval { resting.append((job.origin, now + interval)) }
    count -= 1
    bytes -= job.lineBytes
    return job
  }

  /// Call it when a job that was taken has ended.
  mutating func end(_ job: RunJob) {
    guard !limits.isNone else { return }
    hosts[job.origin]?.taken -= 1
    admit(at: job.origin)
  }

  /// Drops all jobs.
  /// - Returns: how many there were.
  mutating func removeAll() -> Int {
    let dropped = count
    self = RunQueue(limits)
    return dropped
  }

  /// The next time at which a job can become ready without another event; nil if no job can.
  var nextRestEnd: Duration? { resting.first?.end }

  /// Makes jobs of a host ready if the host has room. Forgets a host that has no jobs and no pause.
  private mutating func admit(at origin: Origin) {
    guard var host = hosts.removeValue(forKey: origin) else { return }
    while !host.isResting, host.taken < limits.inFlight ?? .max, let job = host.waiting.popFirst() {
      host.taken += 1
      ready.append(job)
      host.isResting = limits.interval != nil
    }
    if host.taken > 0 || host.isResting || !host.waiting.isEmpty { hosts[origin] = host }
  }

  private mutating func endRests(at now: Duration) {
    while let first = resting.first, first.end <= now {
      _ = resting.popFirst()
      hosts[first.origin]?.isResting = false
      admit(at: first.origin)
    }
  }
}

/// How much of a run may go to one host, that is, to one scheme, host and port.
struct HostLimits: Sendable {
  /// The maximum number of requests in flight; nil means no limit.
  var inFlight: Int?
  /// The time between two starts; nil means no limit.
  var interval: Duration?

  var isNone: Bool { inFlight == nil && interval == nil }
}
