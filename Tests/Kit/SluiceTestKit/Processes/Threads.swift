import Glibc
import SluiceSupport

/// Runs blocking code on a separate thread, for tests of code whose tasks need the shared pool.
package func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
  let result = await Handover.wait { answer in
    Threads.start { answer.give(Swift.Result { try body() }) }
  }
  return try result.get()
}

/// Starts threads for blocking code, which must not block the threads of the shared pool on which tests run.
package enum Threads {
  /// Runs the body on a new detached thread.
  package static func start(_ body: @escaping @Sendable () -> Void) {
    let isStarted = SystemThread.start(signals: .inherited, stackBytes: 256 << 10, body)
    precondition(isStarted, "no thread can be started: \(String(cString: strerror(errno)))")
  }
}
