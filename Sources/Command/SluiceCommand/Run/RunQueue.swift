import SluiceMessages
import SluiceSupport

/// Jobs that were read ahead. They begin in the order in which they were read. The queue is bounded in number and
/// bytes, so that memory does not grow with the input.
///
/// If there are limits for hosts, a job whose host is at its limit waits in a separate list, and jobs of other hosts
/// begin before it. A slow host therefore delays other hosts only if its jobs fill the queue.
struct RunQueue {
  private static let maximumBytes = 8 << 20
  /// The maximum number of jobs, and roughly the maximum number of bytes, that the reader holds in addition to the jobs
  /// in the queue.
  static let batch = (count: 32, bytes: 64 << 10)

  private let limits: HostLimits
  private let maximumCount: Int
  /// Jobs that may begin.
  private var ready = FIFOQueue<RunJob>()
  /// The hosts of jobs; empty if there are no limits for hosts.
  private var hosts: [Origin: Host] = [:]
  /// Hosts that pause because a job has just begun. Each has the time of the monotonic clock at which its next job may
  /// begin. They are in the order of these times.
  private var resting = FIFOQueue<(origin: Origin, end: Duration)>()
  private var count = 0
  private var bytes = 0

  /// A host with jobs that have not ended, or with a pause before its next job.
  private struct Host {
    /// The number of jobs in flight or ready to begin.
    var taken = 0
    /// Whether the host pauses between two jobs: a job of the host is ready or has just begun, so the next job is not
    /// admitted yet.
    var isResting = false
    var waiting = FIFOQueue<RunJob>()
  }

  init(_ limits: HostLimits = HostLimits()) {
    self.limits = limits
    // With limits for hosts, the queue is longer, so that it also contains jobs of other hosts when one host is at its
    // limit.
    maximumCount = limits.isNone ? 512 : 8192
  }

  var isEmpty: Bool { count == 0 }

  var isFull: Bool { count >= maximumCount || bytes >= Self.maximumBytes }
  /// Whether there is so much room that the reader should be woken.
  var isHalfEmpty: Bool { count <= maximumCount / 2 && bytes <= Self.maximumBytes / 2 }

  mutating func append(_ job: RunJob) {
    count += 1
    bytes += job.lineBytes
    guard !limits.isNone else { return ready.append(job) }
    hosts[job.origin, default: Host()].waiting.append(job)
    admit(at: job.origin)
  }

  /// Takes the next job that may begin; nil if there is none, or if all jobs wait for their hosts. ``end(_:)`` must be
  /// called when the job has ended.
  mutating func popFirst() -> RunJob? {
    let now = limits.interval == nil ? .zero : MonotonicClock.now
    endRests(at: now)
    guard let job = ready.popFirst() else { return nil }
    if let interval = limits.interval { resting.append((job.origin, now + interval)) }
    count -= 1
    bytes -= job.lineBytes
    return job
  }

  /// Must be called when a job that was taken has ended.
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

  /// The time at which the next pause of a host ends and a job of this host can become ready; nil if no host pauses.
  var nextRestEnd: Duration? { resting.first?.end }

  /// Makes waiting jobs of a host ready as far as its limits allow. Forgets a host that has neither jobs nor a pause.
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

/// The limits of a run for each host. A host here is a combination of scheme, host and port.
struct HostLimits: Sendable {
  /// The maximum number of requests in flight; nil means no limit.
  var inFlight: Int?
  /// The time between two starts; nil means no limit.
  var interval: Duration?

  var isNone: Bool { inFlight == nil && interval == nil }
}
