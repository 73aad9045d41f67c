import SluiceControl
import SluiceJSON

/// A message from another thread to the session.
enum DevMessage: Sendable {
  case changed(Set<InotifyWatch.Subject>)
  /// A message about the engine's process that has this number.
  case engine(Int, SupervisedProcess.Message)
  /// The result of a command that was sent to the engine over its control socket.
  case answered(Int, Result<JSONValue, ControlError>)
  /// A message about the build that has this number.
  case build(Int, SupervisedProcess.Message)
  /// A line on standard input.
  case typed(String)
  case interrupted(Int32)
  case outputFailed(ByteOutput.Failure)
}
