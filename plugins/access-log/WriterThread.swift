import Glibc

/// Why a thread could not be started.
struct ThreadFailure: Error, CustomStringConvertible {
  let number: CInt
  var description: String { "cannot start the writing thread: \(String(cString: strerror(number)))" }
}

/// Starts a thread on which no signal is delivered: those of the program are not ours to take, and a reader that has
/// gone shows as EPIPE.
func startThread(_ body: @escaping @Sendable () -> Void) throws(ThreadFailure) -> pthread_t {
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
    throw ThreadFailure(number: status)
  }
  return thread
}

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }
}
