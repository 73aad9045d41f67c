import SluiceMessages
import SluiceSupport

/// Jobs that were read ahead, first in, first out; bounded in number and bytes, so that memory does not grow with the
/// input.
///
/// With limits for a host, a job whose host is at its limit waits aside, and those of other hosts pass it. So a slow host
/// delays others only if its own jobs fill the queue.
struct RunQueue {
  private static let maximumBytes = 8 << 20
  /// The reader holds at most so many further jobs, and about so many bytes of them.
  static let batch = (count: 32, bytes: 64 << 10)

  private let limits: HostLimits
  private let maximumCount: Int
  /// Jobs that may begin.
  private var ready = FIFOQueue<RunJob>()
  /// Empty without limits.
  private var hosts: [Origin: Host] = [:]
  /// Hosts at which a job has just begun, in the order in which the next one may begin, by the monotonic clock.
  private var resting = FIFOQueue<(origin: Origin, end: Duration)>()
  private var count = 0
  private var bytes = 0

  /// A host with jobs that have not ended, or at which the next one may not begin yet.
  private struct Host {
    /// Jobs in flight, or ready to begin.
    var taken = 0
    /// A job is ready, or one has just begun, and the next one must not follow yet.
    var isResting = false
    var waiting = FIFOQueue<RunJob>()
  }

  init(_ limits: HostLimits = HostLimits()) {
    self.limits = limits
    // The look-ahead over the jobs of a host at its limit.
    maximumCount = limits.isNone ? 512 : 8192
  }

  var isEmpty: Bool { count == 0 }

  var isFull: Bool { count >= maximumCount || bytes >= Self.maximumBytes }
  /// Enough room to be worth waking the reader for.
  var isHalfEmpty: Bool { count <= maximumCount / 2 && bytes <= Self.maximumBytes / 2 }

  mutating func append(_ job: RunJob) {
    count += 1
    bytes += job.lineBytes
    guard !limits.isNone else { return ready.append(job) }
    hosts[job.origin, default: Host()].waiting.append(job)
    admit(at: job.origin)
  }

  /// The next job that may begin; nil also if all jobs wait for their hosts. ``end(_:)`` must follow.
  mutating func popFirst() -> RunJob? {
    let now = limits.interval == nil ? .zero : MonotonicClock.now
    endRests(at: now)
    guard let job = ready.popFirst() else { return nil }
    if let interval = limits.interval { resting.append((job.origin, now + interval)) }
    count -= 1
    bytes -= job.lineBytes
    return job
  }

  /// A job that was taken has ended.
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

  /// When a job may become ready without another event; nil if never.
  var nextRestEnd: Duration? { resting.first?.end }

  /// Lets the next job of a host begin if the host has room; forgets a host that has nothing to count.
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

/// How much of a run may go to one host: a scheme, a host and a port.
struct HostLimits: Sendable {
  /// The maximum number of requests in flight; nil means no limit.
  var inFlight: Int?
  /// The time between two starts; nil means no limit.
  var interval: Duration?

  var isNone: Bool { inFlight == nil && interval == nil }
}
