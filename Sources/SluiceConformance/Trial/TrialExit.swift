import Glibc
import SluiceLocks
import SluicePluginHost

/// The end of a trial's process as other programs end: with what the library registered by atexit(3), then with its
/// destructors. Each has its step in the report, so that one which crashes is named for what it is.
///
///     watch ── library, trial, result ── run: exit(0) ── its functions ── handlersAreOver ── its destructors
enum TrialExit {
  /// What all of it may take.
  private static let limitSeconds: UInt32 = 1
  private static let observed = Locked<(channel: TrialChannel, library: LoadedLibrary)?>(nil)

  /// To be called before the library is mapped: what is registered later runs earlier.
  static func watch() { atexit { TrialExit.handlersAreOver() } }

  /// Ends the process. To be called when the result is said.
  static func run(_ channel: TrialChannel, _ library: LoadedLibrary) -> Never {
    observed.withLock { $0 = (channel, library) }
    channel.step(TrialReport.ExitStep.handlers)
    fflush(nil)
    // A signal of its own, so that the report can tell it from a crash.
    signal(SIGALRM, SIG_DFL)
    alarm(limitSeconds)
    exit(0)
  }

  private static func handlersAreOver() {
    // A child that the plugin has forked, or a trial that does not get so far, ends as it does.
    guard let (channel, library) = observed.withLock({ $0 }) else { return }
    channel.step(TrialReport.ExitStep.destructors)
    library.runDestructors()
    channel.step(TrialReport.ExitStep.over)
    fflush(nil)
    _exit(0)
  }
}
