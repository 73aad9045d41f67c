import SluiceSupport
import Synchronization

/// The threads that write the files of large bodies, for all loops of the process. There are at most two, and each
/// exists only while pieces wait to be written. So a slow disk never blocks a loop.
enum SpillThreads {
  private struct State {
    var files = FIFOQueue<SpillFile>()
    var threads = 0
  }

  private static let maximumThreads = 2
  private static let state = Locked(State())
  private static let progressCount = Atomic<UInt64>(0)

  /// Adds the file to the files whose pieces the threads write.
  static func write(_ file: SpillFile) {
    let needsThread = state.withLock { state in
      state.files.append(file)
      guard state.threads < maximumThreads else { return false }
      state.threads += 1
      return true
    }
    guard needsThread, !SystemThread.start("sluice-spill", work) else { return }
    // If another thread is running, it will write the files.
    let left = state.withLock { state in
      state.threads -= 1
      var left: [SpillFile] = []
      while state.threads == 0, let file = state.files.popFirst() { left.append(file) }
      return left
    }
    for file in left { file.couldNotBeWritten() }
  }

  /// Counts the written pieces, so that callers can see whether the disk makes progress.
  static var progress: UInt64 { progressCount.load(ordering: .relaxed) }
  static func noteProgress() { progressCount.wrappingAdd(1, ordering: .relaxed) }

  private static let work: @Sendable () -> Void = {
    while let file = next() {
      if file.writePieces() { state.withLock { $0.files.append(file) } }
    }
  }

  /// Takes the next file. Returns nil if no file waits; this thread is then no longer counted, and must end.
  private static func next() -> SpillFile? {
    state.withLock { state in
      let file = state.files.popFirst()
      if file == nil { state.threads -= 1 }
      return file
    }
  }
}
