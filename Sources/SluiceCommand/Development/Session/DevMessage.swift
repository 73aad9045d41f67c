import SluiceControl
import SluiceJSON

/// What the threads around a session tell it.
enum DevMessage: Sendable {
  case changed(Set<InotifyWatch.Subject>)
  /// Of the engine's process with that number.
  case engine(Int, SupervisedProcess.Message)
  /// What became of a command that it was given over its control socket.
  case answered(Int, Result<JSONValue, ControlError>)
  /// Of the build with that number.
  case build(Int, SupervisedProcess.Message)
  /// A line on standard input.
  case typed(String)
  case interrupted(Int32)
  case outputFailed(ByteOutput.Failure)
}
