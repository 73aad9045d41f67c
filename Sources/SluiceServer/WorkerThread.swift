import Glibc

/// A thread with all signals blocked: the process's signals stay with the threads that it chose.
// Unchecked: the handle is written once, before the value is shared; `join` is called once, by the owner.
struct WorkerThread: @unchecked Sendable {
  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let handle: pthread_t

  /// Nil, with `errno` set, when there is no thread to be had.
  init?(running body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(body))
    var handle = pthread_t()
    let status = Self.withSignalsBlocked {
      pthread_create(
        &handle, nil,
        { context in
          if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
          return nil
        }, work.toOpaque())
    }
    guard status == 0 else {
      work.release()
      errno = status
      return nil
    }
    self.handle = handle
  }

  /// Blocks until the body has returned.
  func join() {
    pthread_join(handle, nil)
  }

  /// A new thread inherits the mask of the one that starts it.
  private static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    // A fault of the thread's own that is blocked ends the process without a handler, and so without a report.
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&all, fault) }
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    return body()
  }
}
