import CLinux
import Glibc
import SluiceSupport

/// SIGINT and SIGTERM as an event: the first one asks to finish, a second one ends the process at once. SIGHUP is an
/// event too, for a command that can read its configuration again.
///
/// Made before any other thread starts, because threads inherit the blocked signals.
final class Interruption: Sendable {
  private struct State: Sendable {
    var signal: Int32?
    var handler: (@Sendable () -> Void)?
    var hangUpHandler: (@Sendable () -> Void)?
    /// A SIGHUP came before there was anybody to take it.
    var isHangUpDue = false
  }

  /// Readable from the first signal on, for `poll`.
  let descriptor: Int32
  private let state = Locked(State())

  /// - Parameter takesHangUp: without, SIGHUP ends the process as it does by default.
  init(takesHangUp: Bool = false) throws(CommandError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    let signals = Self.signals(takesHangUp)
    withUnsafePointer(to: signals) { _ = pthread_sigmask(SIG_BLOCK, $0, nil) }
    // A closed pipe shows as EPIPE where it is written.
    signal(SIGPIPE, SIG_IGN)
    try SystemThread.begin("sluice-signals") { [self] in
      while true { take(Self.wait(for: signals)) }
    }.detach()
  }

  /// The signal that came; nil so far.
  var received: Int32? { state.withLock { $0.signal } }

  /// Runs the handler on the first signal, at once where it came before; on the thread of signals.
  func onSignal(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.handler = handler
      return state.signal != nil
    }
    if isLate { handler() }
  }

  /// Runs the handler on each SIGHUP, at once where one came before; on the thread of signals: it must not block.
  func onHangUp(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.hangUpHandler = handler
      defer { state.isHangUpDue = false }
      return state.isHangUpDue
    }
    if isLate { handler() }
  }

  private func take(_ signal: Int32) {
    if signal == SIGHUP { return takeHangUp() }
    let handler: (@Sendable () -> Void)? = state.withLock { state in
      // At once: whatever hangs, this must not wait for it.
      if state.signal != nil { _exit(128 + signal) }
      state.signal = signal
      return state.handler
    }
    eventfd_write(descriptor, 1)
    handler?()
  }

  private func takeHangUp() {
    let handler: (@Sendable () -> Void)? = state.withLock { state in
      state.isHangUpDue = state.hangUpHandler == nil
      return state.hangUpHandler
    }
    handler?()
  }

  private static func wait(for signals: sigset_t) -> Int32 {
    var signals = signals
    var signal: Int32 = 0
    while sigwait(&signals, &signal) != 0 {}
    return signal
  }

  private static func signals(_ takesHangUp: Bool) -> sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGINT)
    sigaddset(&signals, SIGTERM)
    if takesHangUp { sigaddset(&signals, SIGHUP) }
    return signals
  }
}
