import Glibc

/// Starts a thread on which no signal is delivered: those of the program are not the plugin's to take, and a file that
/// would grow past its limit shows as EFBIG.
func startThread(_ body: @escaping @Sendable () -> Void) throws(DiskFailure) {
  var all = sigset_t()
  var previous = sigset_t()
  sigfillset(&all)
  pthread_sigmask(SIG_SETMASK, &all, &previous)
  defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }

  let context = Unmanaged.passRetained(ThreadBody(body))
  var thread = pthread_t()
  let status = pthread_create(
    &thread, nil,
    { context in
      guard let context else { return nil }
      Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body()
      return nil
    }, context.toOpaque())
  guard status == 0 else {
    context.release()
    throw DiskFailure("start", "the thread that writes to disk", status)
  }
  pthread_detach(thread)
}

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
