import SluiceSupport

/// Runs asynchronous code to its end on a thread that may block.
enum Waiting {
  /// Starts the thread pool of tasks while there are free descriptors: libdispatch ends the process if its first task
  /// finds none.
  static func startPool() { result {} }

  static func result<Result: Sendable>(of work: @escaping @Sendable () async -> Result) -> Result {
    let monitor = Monitor<Result?>(nil)
    Task.detached {
      let result = await work()
      monitor.withLock { $0 = result }
      monitor.broadcast()
    }
    return monitor.wait { $0 }
  }
}
