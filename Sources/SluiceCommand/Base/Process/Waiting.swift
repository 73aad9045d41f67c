import SluiceSupport

/// Runs asynchronous code to its end on a thread that may block.
enum Waiting {
  /// Starts the pool that tasks run on while descriptors are left: libdispatch ends the process where its first
  /// task finds none.
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
