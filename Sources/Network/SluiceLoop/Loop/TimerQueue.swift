import SluicePipeline

/// The armed timers of one loop: a binary heap in which each timer knows its place, so that disarming is O(log n) too.
struct TimerQueue {
  private struct Entry {
    var deadline: Instant
    /// The queue retains the timer once, when it is armed, so that moving it within the heap does not change its
    /// reference count.
    var timer: Unmanaged<LoopTimer>
  }

  private var entries: [Entry] = []

  var count: Int { entries.count }
  var nextDeadline: Instant? { entries.first?.deadline }

  mutating func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget) {
    timer.target = target
    timer.deadline = deadline
    guard timer.isArmed else {
      timer.queuePosition = entries.count
      entries.append(Entry(deadline: deadline, timer: .passRetained(timer)))
      return rise(from: entries.count - 1)
    }
    let position = timer.queuePosition
    let previous = entries[position].deadline
    entries[position].deadline = deadline
    if deadline < previous { rise(from: position) } else { sink(from: position) }
  }

  mutating func disarm(_ timer: LoopTimer) {
    guard timer.isArmed else { return }
    timer.target = nil
    remove(at: timer.queuePosition).release()
  }

  /// Takes the earliest timer whose deadline is not after `now`.
  mutating func popDue(at now: Instant) -> LoopTimer? {
    guard let first = entries.first, first.deadline <= now else { return nil }
    return remove(at: 0).takeRetainedValue()
  }

  mutating func removeAll() {
    while !entries.isEmpty {
      let timer = remove(at: entries.count - 1).takeRetainedValue()
      timer.target = nil
    }
  }

  /// Returns the timer together with the queue's reference to it.
  private mutating func remove(at position: Int) -> Unmanaged<LoopTimer> {
    let removed = entries[position]
    removed.timer._withUnsafeGuaranteedRef { $0.queuePosition = -1 }
    let last = entries.removeLast()
    if position < entries.count {
      place(last, at: position)
      if last.deadline < removed.deadline { rise(from: position) } else { sink(from: position) }
    }
    return removed.timer
  }

  private mutating func rise(from start: Int) {
    let entry = entries[start]
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard entry.deadline < entries[parent].deadline else { break }
      place(entries[parent], at: position)
      position = parent
    }
    place(entry, at: position)
  }

  private mutating func sink(from start: Int) {
    let entry = entries[start]
    var position = start
    while true {
      var child = 2 * position + 1
      guard child < entries.count else { break }
      if child + 1 < entries.count, entries[child + 1].deadline < entries[child].deadline { child += 1 }
      guard entries[child].deadline < entry.deadline else { break }
      place(entries[child], at: position)
      position = child
    }
    place(entry, at: position)
  }

  private mutating func place(_ entry: Entry, at position: Int) {
    entries[position] = entry
    entry.timer._withUnsafeGuaranteedRef { $0.queuePosition = position }
  }
}
