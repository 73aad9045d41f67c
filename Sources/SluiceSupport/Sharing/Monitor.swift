import Glibc

/// A value behind a lock, with threads that wait for it to change. Timed waits go by the monotonic clock.
///
/// Unchecked because the compiler cannot see that the lock protects the value.
package final class Monitor<Value>: @unchecked Sendable {
  private var value: Value
  // Allocated because they must never move.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Runs the body while no other thread runs one; wakes no thread.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }

  /// Changes the value and wakes every thread that waits.
  @discardableResult
  package func update<Result>(_ body: (inout Value) -> Result) -> Result {
    defer { broadcast() }
    return withLock(body)
  }

  /// Wakes every thread that waits, after a change that was made under the lock. For any other change call
  /// ``update(_:)``: a thread that has checked the value and does not sleep yet would miss this wake-up.
  package func broadcast() { pthread_cond_broadcast(condition) }

  /// Blocks until the body returns a result; the body runs again whenever the threads are woken.
  package func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(condition, mutex)
    }
  }

  /// Like `wait(_:)`, but returns nil when the duration has passed.
  package func wait<Result>(upTo limit: Duration, _ body: (inout Value) -> Result?) -> Result? {
    var deadline = Self.deadline(after: limit)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      // Zero, or the time has passed. Anything else would repeat without releasing the lock.
      if pthread_cond_timedwait(condition, mutex, &deadline) != 0 { return body(&value) }
    }
  }

  /// The time after the duration, at most 68 years ahead, so that no sum overflows; now for a negative duration.
  private static func deadline(after limit: Duration) -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let (seconds, attoseconds) = max(limit, .zero).components
    let wanted = min(seconds, Int64(Int32.max))
    let nanoseconds = time.tv_nsec + Int(attoseconds / 1_000_000_000)
    return timespec(
      tv_sec: time.tv_sec + Int(wanted) + nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
  }
}
