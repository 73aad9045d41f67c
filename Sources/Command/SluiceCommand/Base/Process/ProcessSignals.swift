import CLinux
import Glibc
import SluiceSupport

/// SIGINT and SIGTERM as events: the first signal asks the command to finish, and a second signal ends the process at
/// once. SIGHUP is an event too, for a command that can read its configuration again.
///
/// It must be created before any other thread starts, because threads inherit the set of blocked signals.
final class ProcessSignals: Sendable {
  private struct State: Sendable {
    var signal: Int32?
    var handler: (@Sendable () -> Void)?
    var hangUpHandler: (@Sendable () -> Void)?
    /// Whether a SIGHUP has arrived before its handler was set.
    var isHangUpDue = false
  }

  /// A descriptor for `poll`, readable after the first signal.
  let descriptor: Int32
  private let state = Locked(State())
  private let drain: Duration

  /// - Parameters:
  ///   - takesHangUp: if false, SIGHUP ends the process, as it does by default.
  ///   - drain: the time that the command takes to finish. If an output takes no bytes after this time, the process
  ///     ends.
  init(takesHangUp: Bool = false, drain: Duration = .zero) throws(CommandError) {
    self.drain = drain
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    let signals = Self.signals(takesHangUp)
    withUnsafePointer(to: signals) { _ = pthread_sigmask(SIG_BLOCK, $0, nil) }
    // With this, a write to a closed pipe fails with EPIPE.
    sluice_survive_signal(SIGPIPE)
    // With this, a write beyond the size limit of files (ulimit -f) fails with EFBIG.
    sluice_survive_signal(SIGXFSZ)
    try SystemThread.begin("sluice-signals") { [self] in
      while true { take(Self.wait(for: signals)) }
    }.detach()
  }

  /// Whether the command has inherited that SIGCHLD is ignored. The first use of this value ends that for the command,
  /// because it needs the statuses of its children; ``AttachedProgram`` hands it on.
  static let ignoredChildren = sluice_keep_child_statuses() != 0

  /// The first signal that was received; nil if there was none.
  var received: Int32? { state.withLock { $0.signal } }

  /// Runs the handler at the first signal, on the thread that waits for signals. If a signal has already arrived, runs
  /// the handler at once on the calling thread.
  func onSignal(_ handler: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.handler = handler
      return state.signal != nil
    }
    if isLate { handler() }
  }

  /// Runs the handler at each SIGHUP, on the thread that waits for signals, so it must not block. If a SIGHUP has
  /// already arrived, runs the handler at once on the calling thread.
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
      // A second signal ends the process at once, without waiting for anything that might hang.
      if state.signal != nil { _exit(ExitStatus.interrupted(by: signal).code) }
      state.signal = signal
      return state.handler
    }
    eventfd_write(descriptor, 1)
    StuckOutput.watch(after: drain, signal)
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
