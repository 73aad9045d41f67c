import Glibc
import SluiceLocks

/// The threads on which libraries are mapped: a constructor that takes its time holds the loader's lock, and would stop
/// an event loop.
enum LoaderThread {
  /// Returns what is left to do without what the body holds.
  private typealias Body = @Sendable () -> @Sendable () -> Void

  /// Passes on what `body` did, when the thread has let go of `body` and all that it holds. False when no thread could be
  /// started; then neither runs.
  static func start<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result, then finish: @escaping @Sendable (Result) -> Void
  ) -> Bool {
    let thread = create {
      let result = body()
      return { finish(result) }
    }
    guard let thread else { return false }
    pthread_detach(thread)
    return true
  }

  /// Returns what `body` did, when it has run; nil when no thread could be started.
  static func runAndWait<Result: Sendable>(_ body: @escaping @Sendable () -> Result) -> Result? {
    let slot = Slot<Result>()
    let thread = create {
      slot.fill(body())
      return {}
    }
    guard let thread, pthread_join(thread, nil) == 0 else { return nil }
    return slot.value
  }

  private static func create(_ body: @escaping Body) -> pthread_t? {
    let work = Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        // Balances passRetained: the thread owns its work.
        guard let context else { return nil }
        let finish = Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
        finish()
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      return nil
    }
    return thread
  }

  private final class Slot<Value: Sendable>: Sendable {
    private let content = Locked<Value?>(nil)
    var value: Value? { content.withLock { $0 } }
    func fill(_ value: Value) { content.withLock { $0 = value } }
  }

  private final class Work: Sendable {
    let body: Body
    init(_ body: @escaping Body) { self.body = body }
  }
}
