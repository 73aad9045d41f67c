/// Jobs that were read ahead, first in, first out; bounded in number and bytes, so that memory does not grow with the
/// input.
struct RunQueue {
  private static let maximumCount = 512
  private static let maximumBytes = 8 << 20

  private var jobs: [RunJob?] = []
  private var head = 0
  private var bytes = 0

  var isEmpty: Bool { head == jobs.count }
  private var count: Int { jobs.count - head }

  var isFull: Bool { count >= Self.maximumCount || bytes >= Self.maximumBytes }
  /// Enough room to be worth waking the reader for.
  var isHalfEmpty: Bool { count <= Self.maximumCount / 2 && bytes <= Self.maximumBytes / 2 }

  mutating func append(_ job: RunJob) {
    jobs.append(job)
    bytes += job.lineBytes
  }

  mutating func popFirst() -> RunJob? {
    guard head < jobs.count, let job = jobs[head] else { return nil }
    jobs[head] = nil
    head += 1
    bytes -= job.lineBytes
    if head == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= Self.maximumCount {
      jobs.removeFirst(head)
      head = 0
    }
    return job
  }
}
