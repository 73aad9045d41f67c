import Glibc
import Synchronization

/// Functions of another part of the process, which must know when a thread runs and when it waits. They are C
/// functions, so that a call of them takes no lock of Swift's runtime.
package struct ThreadWatcher: Sendable {
  package typealias Function = @convention(c) () -> Void

  /// A watched ``SystemThread`` calls it before anything else. The thread runs until it ends.
  package let begin: Function
  /// Called before a ``Monitor`` blocks any thread. If the result is not 0, the thread does not run until it calls
  /// `resume`, immediately after the wait.
  package let pause: @convention(c) () -> Int32
  package let resume: Function

  package init(begin: @escaping Function, pause: @escaping @convention(c) () -> Int32, resume: @escaping Function) {
    self.begin = begin
    self.pause = pause
    self.resume = resume
  }

  /// The watcher is never freed. No lock protects it, because a thread that holds a lock here would not be watched yet.
  /// Unsafe only because a pointer is not Sendable.
  private nonisolated(unsafe) static let installed = Atomic<UnsafePointer<ThreadWatcher>?>(nil)

  package static var current: ThreadWatcher? { installed.load(ordering: .acquiring)?.pointee }

  /// Installs the process's watcher; if there is one already, does nothing. Call it before the first thread starts.
  package static func install(_ watcher: ThreadWatcher) {
    guard installed.load(ordering: .acquiring) == nil else { return }
    let memory = UnsafeMutablePointer<ThreadWatcher>.allocate(capacity: 1)
    memory.initialize(to: watcher)
    let isFirst = installed.compareExchange(
      expected: nil, desired: UnsafePointer(memory), ordering: .acquiringAndReleasing
    ).exchanged
    if !isFirst { memory.deallocate() }
  }

  /// Begins a pause of the calling thread. Returns the watcher whose `resume` ends it; nil if the thread does not pause.
  private static func beginPause() -> ThreadWatcher? {
    if let current, current.pause() != 0 { return current }
    return nil
  }

  /// Pauses for a moment. A thread with much work calls it between two pieces.
  package static func yield() { beginPause()?.resume() }

  // MARK: Waiting

  // These functions are not generic, because generic code may take locks of Swift's runtime.

  /// Like write(2).
  package static func write(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    let watcher = beginPause()
    let result = Glibc.write(descriptor, bytes, count)
    let number = errno
    watcher?.resume()
    errno = number
    return result
  }

  /// Waits until the descriptor can be written to, or the time has passed.
  package static func waitUntilWritable(_ descriptor: CInt, milliseconds: CInt) {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let watcher = beginPause()
    poll(&waiting, 1, milliseconds)
    watcher?.resume()
  }

  /// Waits for the condition until the deadline, if there is a deadline. Returns the status of
  /// pthread_cond_timedwait(3).
  static func wait(
    _ condition: UnsafeMutablePointer<pthread_cond_t>, _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
    until deadline: UnsafePointer<timespec>?
  ) -> Int32 {
    let watcher = beginPause()
    let status: Int32
    if let deadline {
      status = pthread_cond_timedwait(condition, mutex, deadline)
    } else {
      status = pthread_cond_wait(condition, mutex)
    }
    if let watcher {
      // `resume` may wait. Other threads that need the mutex must not wait for this thread then.
      pthread_mutex_unlock(mutex)
      watcher.resume()
      pthread_mutex_lock(mutex)
    }
    return status
  }
}
