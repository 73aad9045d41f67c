import Glibc

/// A value behind a lock, with threads that wait for it to change. Timed waits use the monotonic clock.
///
/// A child of fork() must not use a monitor of its parent: a thread that waited there may have held its lock.
///
/// Unchecked, because the compiler cannot see that the lock protects the value.
package final class Monitor<Value>: @unchecked Sendable {
  private var value: Value
  // The mutex and the condition are allocated, because they must never move in memory.
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

  /// Runs the body with the lock held, and wakes no thread.
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

  /// Wakes every thread that waits. Call it only after a change that was made under the lock, or use ``update(_:)``.
  ///
  /// If a change is made without the lock, a thread might just have checked the value and not sleep yet. It would miss
  /// this wake-up.
  package func broadcast() { pthread_cond_broadcast(condition) }

  /// Blocks until the body returns a result. The body runs with the lock held, at first and whenever the threads are
  /// woken.
  package func wait<Result>(_ body: (inout Value) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      _ = ThreadWatcher.wait(condition, mutex, until: nil)
    }
  }

  /// Like `wait(_:)`, but returns nil when the duration has passed.
  package func wait<Result>(upTo limit: Duration, _ body: (inout Value) -> Result?) -> Result? {
    var deadline = Self.deadline(after: limit)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&value) { return result }
      // The status is not 0 if the time has passed, or if the wait failed. After a failure, another wait could fail at
      // once too, without releasing the lock.
      if ThreadWatcher.wait(condition, mutex, until: &deadline) != 0 { return body(&value) }
    }
  }

  /// The time at which the duration has passed. It is at most 68 years ahead, so that no sum overflows. For a negative
  /// duration it is the current time.
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
