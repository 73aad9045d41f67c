import SluiceSupport

/// Jobs that were read ahead, first in, first out; bounded in number and bytes, so that memory does not grow with the
/// input.
struct RunQueue {
  private static let maximumCount = 512
  private static let maximumBytes = 8 << 20

  private var jobs = FIFOQueue<RunJob>()
  private var bytes = 0

  var isEmpty: Bool { jobs.isEmpty }

  var isFull: Bool { jobs.count >= Self.maximumCount || bytes >= Self.maximumBytes }
  /// Enough room to be worth waking the reader for.
  var isHalfEmpty: Bool { jobs.count <= Self.maximumCount / 2 && bytes <= Self.maximumBytes / 2 }

  mutating func append(_ job: RunJob) {
    jobs.append(job)
    bytes += job.lineBytes
  }

  mutating func popFirst() -> RunJob? {
    guard let job = jobs.popFirst() else { return nil }
    bytes -= job.lineBytes
    return job
  }
}
