import CLinux
import Glibc

/// Starts threads that nobody joins; all signals stay with the threads that want them.
package enum DetachedThread {
  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// False where no thread is to be had; then the body never runs.
  /// - Parameter name: the kernel keeps 15 bytes of it.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let context = Unmanaged.passRetained(Work(name, body)).toOpaque()
    var identifier = pthread_t()
    let previous = SignalMask.blockAll()
    defer { previous.restore() }
    let status = pthread_create(
      &identifier, nil,
      { context in
        guard let context else { return nil }
        let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        sluice_name_thread(work.name)
        work.body()
        return nil
      }, context)
    guard status == 0 else {
      Unmanaged<Work>.fromOpaque(context).release()
      return false
    }
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
