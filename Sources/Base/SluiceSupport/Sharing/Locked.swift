import Glibc

/// A value that only one thread at a time can access.
///
/// It uses a pthread mutex instead of `Synchronization.Mutex`, because the thread sanitizer knows only the pthread
/// mutex, and would report false races with the other. Unchecked, because the compiler cannot see that the lock
/// protects the value.
package final class Locked<Value: ~Copyable>: @unchecked Sendable {
  private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init(_ value: consuming sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs the body with the lock held, so that only one thread at a time runs a body. The body must not call `withLock`
  /// of the same object.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
