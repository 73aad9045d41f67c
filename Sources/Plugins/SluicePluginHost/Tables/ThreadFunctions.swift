import CSluice
import SluiceSupport

/// The table `sluice.threads/1`.
enum ThreadFunctions {
  /// Nil if the process has no watcher of threads. The table is never freed, and never written after this, so all
  /// threads can share it.
  nonisolated(unsafe) static let shared: UnsafePointer<sluice_threads>? = {
    guard let watcher = ThreadWatcher.current else { return nil }
    let table = UnsafeMutablePointer<sluice_threads>.allocate(capacity: 1)
    table.initialize(
      to: sluice_threads(
        size: UInt32(MemoryLayout<sluice_threads>.size), reserved: 0, begin: watcher.begin, pause: watcher.pause,
        resume: watcher.resume))
    return UnsafePointer(table)
  }()
}
