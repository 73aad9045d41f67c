import CTestKit
import Glibc

/// A thread that C code has started, as in a program with its own event loop. The thread only waits for a descriptor.
package final class ForeignThread: Sendable {
  private final class Turn: Sendable {
    let body: @Sendable () -> Bool
    init(_ body: @escaping @Sendable () -> Bool) { self.body = body }
  }

  private let turn: Turn
  private let thread: pthread_t

  /// - Parameter turn: called on the thread whenever the descriptor is readable; false ends the thread.
  package init(waitingFor descriptor: Int32, turn body: @escaping @Sendable () -> Bool) throws {
    let turn = Turn(body)
    self.turn = turn
    var thread = pthread_t()
    let status = sluice_test_start_foreign_thread(
      &thread, descriptor,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Turn>.fromOpaque(context).takeUnretainedValue().body() ? 1 : 0
      }, Unmanaged.passUnretained(turn).toOpaque())
    guard status == 0 else { throw TestKitError("no thread: \(String(cString: strerror(status)))") }
    self.thread = thread
  }

  /// Blocks until the thread has ended. Call it once.
  package func join() {
    pthread_join(thread, nil)
    withExtendedLifetime(turn) {}
  }
}
