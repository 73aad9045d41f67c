/// Work in the order in which it came. What was taken is let go at once, also while other work waits; the room it took is
/// given back before long.
struct JobQueue<Job> {
  private var slots: [Job?] = []
  /// Where the next job stands; those before it were taken.
  private var next = 0

  var count: Int { slots.count - next }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ job: Job) { slots.append(job) }

  mutating func take() -> Job? {
    guard next < slots.count else { return nil }
    let job = slots[next]
    slots[next] = nil
    next += 1
    if next == slots.count {
      slots.removeAll(keepingCapacity: true)
      next = 0
    } else if next >= 1024, next * 2 >= slots.count {
      slots.removeFirst(next)
      next = 0
    }
    return job
  }
}
