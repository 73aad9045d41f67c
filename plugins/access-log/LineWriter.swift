import Glibc
import SluiceMessages
import SluicePlugin

/// A bounded queue of records, and the thread that formats and writes them.
///
/// `@unchecked Sendable`: `mutex` guards the variables; `output` belongs to the thread after it has started.
final class LineWriter: @unchecked Sendable {
  private let capacity: Int
  private let spell: @Sendable (AccessRecord) -> [UInt8]
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  private var output: LogOutput
  private var complain: @Sendable (String) -> Void = { _ in }
  private var waiting: [AccessRecord] = []
  /// The number of lines that were dropped because the queue was full; the next batch reports it.
  private var droppedCount = 0
  /// The number of lines in batches that could not be written. It includes the dropped lines that such a batch should
  /// have reported. The next batch reports this number too.
  private var lostCount = 0
  private var writingCount = 0
  private var isStopping = false
  private var thread: BackgroundThread?
  private var hasEnded = false

  init(capacity: Int, output: LogOutput, spell: @escaping @Sendable (AccessRecord) -> [UInt8]) {
    self.capacity = capacity
    self.output = output
    self.spell = spell
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    output.close()
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Opens the output and starts the thread. If writing fails several times in a row, the thread calls `complain` only
  /// for the first failure.
  func start(complain: @escaping @Sendable (String) -> Void) throws {
    self.complain = complain
    try output.open()
    thread = try BackgroundThread { self.run() }
  }

  /// Queues a record. If the queue is full, the record is dropped and counted.
  func submit(_ record: AccessRecord) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard waiting.count + writingCount < capacity else {
      droppedCount += 1
      return
    }
    waiting.append(record)
    if waiting.count == 1 { pthread_cond_signal(changed) }
  }

  /// Writes the queued lines and the number of lost lines, and ends the thread. Returns how many lines are missing,
  /// that is, neither written nor counted in a written line.
  func stop(within deadline: Duration) -> Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard let thread else { return waiting.count }
    self.thread = nil
    isStopping = true
    droppedCount += lostCount
    lostCount = 0
    pthread_cond_broadcast(changed)
    var end = timespec(after: deadline)
    while !hasEnded, pthread_cond_timedwait(changed, mutex, &end) != ETIMEDOUT {}
    // A thread that hangs in a write keeps this object alive and ends by itself; the library stays mapped.
    if hasEnded { thread.join() } else { thread.detach() }
    return waiting.count + writingCount + droppedCount + lostCount
  }
}

extension LineWriter {
  private func run() {
    var isFailing = false
    while let (records, dropped) = take() {
      do throws(LogOutput.Failure) {
        try output.write(lines(records, dropped))
        isFailing = false
      } catch {
        lose(records.count - error.writtenLines + dropped)
        if !isFailing { complain("\(error); until writing works again, lines are lost and counted") }
        isFailing = true
      }
    }
    pthread_mutex_lock(mutex)
    hasEnded = true
    pthread_cond_broadcast(changed)
    pthread_mutex_unlock(mutex)
  }

  /// Waits for records. Returns nil when the writer is stopping and the queue is empty.
  private func take() -> ([AccessRecord], dropped: Int)? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    writingCount = 0
    while waiting.isEmpty && droppedCount == 0 {
      if isStopping { return nil }
      pthread_cond_wait(changed, mutex)
    }
    defer {
      writingCount = waiting.count
      waiting.removeAll()
      droppedCount = 0
      lostCount = 0
    }
    return (waiting, droppedCount + lostCount)
  }

  private func lose(_ count: Int) {
    pthread_mutex_lock(mutex)
    lostCount += count
    pthread_mutex_unlock(mutex)
  }

  private func lines(_ records: [AccessRecord], _ dropped: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for record in records { bytes.append(contentsOf: spell(record)) }
    guard dropped > 0 else { return bytes }
    var line = JSONText()
    line.object {
      $0.text("time", rfc3339(.now))
      $0.number("dropped", dropped)
    }
    return bytes + line.line()
  }
}

extension timespec {
  /// The time on the monotonic clock that is this duration after the present time.
  fileprivate init(after duration: Duration) {
    self.init()
    clock_gettime(CLOCK_MONOTONIC, &self)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = tv_nsec + Int(attoseconds / 1_000_000_000)
    tv_sec += Int(min(max(seconds, 0), 1_000_000_000)) + nanoseconds / 1_000_000_000
    tv_nsec = nanoseconds % 1_000_000_000
  }
}
