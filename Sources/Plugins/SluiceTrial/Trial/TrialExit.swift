import Glibc
import SluicePluginHost
import SluiceSupport

/// Ends a trial's process as other programs end: runs the functions that the library has registered with atexit(3), and
/// then the library's destructors. Each part has its own step in the report, so that a crash is attributed correctly.
///
///     watch ── library, trial, result ── run: exit(0) ── its functions ── handlersAreOver ── its destructors
enum TrialExit {
  /// The time limit for all steps together.
  private static let limitSeconds: UInt32 = 1
  private static let observed = Locked<(channel: TrialChannel, library: LoadedLibrary)?>(nil)

  /// Registers a function that marks the end of the library's functions. Call it before the library is mapped, because
  /// functions that are registered later run earlier.
  static func watch() { atexit { TrialExit.handlersAreOver() } }

  /// Ends the process. Must be called after the result was reported.
  static func run(_ channel: TrialChannel, _ library: LoadedLibrary) -> Never {
    observed.withLock { $0 = (channel, library) }
    channel.step(TrialReport.ExitStep.handlers)
    fflush(nil)
    // The time limit has its own signal, so that the report can tell the timeout from a crash.
    signal(SIGALRM, SIG_DFL)
    alarm(limitSeconds)
    exit(0)
  }

  private static func handlersAreOver() {
    // A process that has not called ``run(_:_:)`` needs nothing here: the library has ended the trial earlier, or the
    // process is a child that the plugin has forked.
    guard let (channel, library) = observed.withLock({ $0 }) else { return }
    channel.step(TrialReport.ExitStep.destructors)
    library.runDestructors()
    channel.step(TrialReport.ExitStep.over)
    fflush(nil)
    _exit(0)
  }
}
