import Glibc
import SluiceSupport

extension TrialReport {
  /// The steps after a trial, when its process ends like other programs.
  package enum ExitStep {
    package static let handlers = "in a function that it registered with atexit"
    package static let destructors = "in a destructor of the library"
    package static let over = "after the last destructor"

    static let all = [handlers, destructors, over]
  }

  /// Whether the trial had reported its result, and the process was in one of these last steps when it ended.
  var isBeyondResult: Bool { result != nil && step.map(ExitStep.all.contains) == true }

  /// What the library does wrong when a process ends with exit(3); nil if it does nothing wrong, or if the trial did
  /// not get this far. It is only a warning, because the command itself calls neither handlers nor destructors when it
  /// ends.
  package var exitWarning: String? {
    guard isBeyondResult, let step, let deed else { return nil }
    return "\(deed) \(step), when its process ended; do that work in deactivate or destroy"
  }

  private var deed: String? {
    switch ending {
    case .exited(0): nil
    case .exited(let code): "ends the process with status \(code)"
    case .killed(SIGALRM), .timedOut: "does not return"
    case .killed(let signal): "crashes with \(SignalName.of(signal))"
    }
  }
}
