import Glibc

/// A thread of the plugin itself, for blocking work: files, sockets, a library that waits.
///
/// It blocks all signals, because a plugin must not handle the signals of the program. The same conditions appear as
/// errors: a closed reader as EPIPE, a file beyond its size limit as EFBIG.
public struct BackgroundThread: Sendable {
  private let thread: pthread_t

  /// Starts the thread. Allowed from `activate` on; the thread must be joined or detached. [any]
  public init(_ body: @escaping @Sendable () -> Void) throws(StageFailure) {
    var all = sigset_t()
    var previous = sigset_t()
    sigfillset(&all)
    // A fault of the thread's own that is blocked ends the process without a handler, and so without a report.
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&all, fault) }
    // Set before the thread is there, which inherits the mask: no signal can reach it in between.
    pthread_sigmask(SIG_SETMASK, &all, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

    let context = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard status == 0 else {
      context.release()
      throw StageFailure(message: "cannot start a thread: \(String(cString: strerror(status)))")
    }
    self.thread = thread
  }

  /// Waits for its end; once.
  public func join() { pthread_join(thread, nil) }

  /// The thread ends by itself; nothing waits for it.
  public func detach() { pthread_detach(thread) }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
