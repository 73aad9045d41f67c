import Glibc

/// Functions that every ``SystemThread`` calls, so that another part of the process knows when the thread runs and when
/// it waits. They run in C, so that a thread that waits is not inside of Swift's runtime.
package struct ThreadWatcher: Sendable {
  /// Called on each thread before it does anything else.
  private let begin: @convention(c) () -> Void
  /// Called on any thread before a ``Monitor`` blocks it. If the result is true, `resume` is called afterwards.
  private let pause: @convention(c) () -> Bool
  private let resume: @convention(c) () -> Void

  package init(
    begin: @escaping @convention(c) () -> Void, pause: @escaping @convention(c) () -> Bool,
    resume: @escaping @convention(c) () -> Void
  ) {
    self.begin = begin
    self.pause = pause
    self.resume = resume
  }

  /// The process's watcher. Set it only before the first thread starts: no lock protects it, because a thread that holds
  /// a lock here would not be watched yet.
  package nonisolated(unsafe) static var current: ThreadWatcher?

  static func threadBegins() { current?.begin() }

  /// Waits for the condition until the deadline, if there is a deadline. Returns the status of pthread_cond_timedwait(3).
  ///
  /// Not generic, because generic code may take locks of Swift's runtime.
  static func wait(
    _ condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
    until deadline: UnsafePointer<timespec>?
  ) -> Int32 {
    let watcher = current
    let isPaused = watcher?.pause() ?? false
    let status: Int32
    if let deadline {
      status = pthread_cond_timedwait(condition, mutex, deadline)
    } else {
      status = pthread_cond_wait(condition, mutex)
    }
    if isPaused { watcher?.resume() }
    return status
  }
}
