import Glibc

/// A thread of the plugin's own, for what blocks: files, sockets, a library that waits.
///
/// No signal is delivered on it. Those of the program are not the plugin's to take, and what a signal would say shows as
/// an error: a reader that has gone as EPIPE, a file that would grow past its limit as EFBIG.
public struct BackgroundThread: Sendable {
  private let thread: pthread_t

  /// Starts it. To be started from `activate` on, and either joined or detached. [any]
  public init(_ body: @escaping @Sendable () -> Void) throws(PluginFailure) {
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
      throw PluginFailure(message: "cannot start a thread: \(String(cString: strerror(status)))")
    }
    self.thread = thread
  }

  /// Waits for its end; once.
  public func join() { pthread_join(thread, nil) }

  /// It ends by itself; nobody waits for it.
  public func detach() { pthread_detach(thread) }

  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
