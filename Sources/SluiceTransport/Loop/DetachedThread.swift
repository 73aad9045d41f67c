import Glibc

/// Starts threads that nobody joins; all signals stay with the threads that want them.
package enum DetachedThread {
  package static func start(
    _ context: UnsafeMutableRawPointer,
    _ body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  ) -> Bool {
    var identifier = pthread_t()
    let previous = SignalMask.blockAll()
    defer { previous.restore() }
    guard pthread_create(&identifier, nil, body, context) == 0 else { return false }
    pthread_detach(identifier)
    return true
  }
}

/// The signals that a thread blocks.
struct SignalMask {
  private var mask: sigset_t

  /// Blocks everything but faults of the thread's own, for a thread about to be created, which inherits the mask: so no
  /// signal can reach it in between. A blocked fault could not be handled by anybody.
  static func blockAll() -> SignalMask {
    var blocked = sigset_t()
    var previous = sigset_t()
    sigfillset(&blocked)
    for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, fault) }
    pthread_sigmask(SIG_BLOCK, &blocked, &previous)
    return SignalMask(mask: previous)
  }

  func restore() {
    var mask = mask
    pthread_sigmask(SIG_SETMASK, &mask, nil)
  }
}
