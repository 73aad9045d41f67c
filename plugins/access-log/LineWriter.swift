import SluiceMessages
import SluicePlugin
import SluiceSupport

/// A bounded queue of records, and the thread that formats and writes them.
///
/// `@unchecked Sendable`: `output` and `complain` belong to the thread after it has started.
final class LineWriter: @unchecked Sendable {
  private struct State {
    var waiting: [AccessRecord] = []
    /// The number of lines that were dropped because the queue was full; the next batch reports it.
    var droppedCount = 0
    /// The number of lines in batches that could not be written. It includes the dropped lines that such a batch should
    /// have reported. The next batch reports this number too.
    var lostCount = 0
    var writingCount = 0
    var isStopping = false
    var hasEnded = false

    /// The lines that are neither written nor counted in a written line.
    var missingCount: Int { waiting.count + writingCount + droppedCount + lostCount }
  }

  private let capacity: Int
  private let spell: @Sendable (AccessRecord) -> [UInt8]
  private let state = Monitor(State())
  private var output: LogOutput
  private var complain: @Sendable (String) -> Void = { _ in }
  private var thread: BackgroundThread?

  init(capacity: Int, output: LogOutput, spell: @escaping @Sendable (AccessRecord) -> [UInt8]) {
    self.capacity = capacity
    self.output = output
    self.spell = spell
  }

  deinit { output.close() }

  /// Opens the output and starts the thread. If writing fails several times in a row, the thread calls `complain` only
  /// for the first failure.
  func start(complain: @escaping @Sendable (String) -> Void) throws {
    self.complain = complain
    try output.open()
    thread = try BackgroundThread("access-log", isWatched: true) { self.run() }
  }

  /// Queues a record. If the queue is full, the record is dropped and counted.
  func submit(_ record: AccessRecord) {
    let isFirst = state.withLock { state in
      guard state.waiting.count + state.writingCount < capacity else {
        state.droppedCount += 1
        return false
      }
      state.waiting.append(record)
      return state.waiting.count == 1
    }
    if isFirst { state.broadcast() }
  }

  /// Writes the queued lines and the number of lost lines, and ends the thread. Returns how many lines are missing,
  /// that is, neither written nor counted in a written line.
  func stop(within deadline: Duration) -> Int {
    guard let thread else { return state.withLock { $0.waiting.count } }
    self.thread = nil
    state.update { state in
      state.isStopping = true
      state.droppedCount += state.lostCount
      state.lostCount = 0
    }
    let hasEnded = state.wait(upTo: deadline) { $0.hasEnded ? true : nil } ?? false
    // A thread that hangs in a write keeps this object alive and ends by itself; the library stays mapped.
    if hasEnded { thread.join() } else { thread.detach() }
    return state.withLock(\.missingCount)
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
        let count = records.count - error.writtenLines + dropped
        state.withLock { $0.lostCount += count }
        if !isFailing { complain("\(error); until writing works again, lines are lost and counted") }
        isFailing = true
      }
    }
    state.update { $0.hasEnded = true }
  }

  /// Waits for records. Returns nil when the writer is stopping and the queue is empty.
  private func take() -> ([AccessRecord], dropped: Int)? {
    state.withLock { $0.writingCount = 0 }
    return state.wait { state -> ([AccessRecord], dropped: Int)?? in
      if state.waiting.isEmpty && state.droppedCount == 0 { return state.isStopping ? .some(nil) : nil }
      let taken = (state.waiting, dropped: state.droppedCount + state.lostCount)
      state.writingCount = state.waiting.count
      state.waiting.removeAll()
      state.droppedCount = 0
      state.lostCount = 0
      return taken
    }
  }

  private func lines(_ records: [AccessRecord], _ dropped: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for record in records {
      ThreadWatcher.yield()
      bytes.append(contentsOf: spell(record))
    }
    guard dropped > 0 else { return bytes }
    var line = JSONText()
    line.object {
      $0.text("time", rfc3339(.now))
      $0.number("dropped", dropped)
    }
    return bytes + line.line()
  }
}
