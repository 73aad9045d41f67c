import SluiceControl
import SluiceJSON

/// A message from another thread to the session.
enum DevMessage: Sendable {
  case changed(Set<InotifyWatch.Subject>)
  /// A message of the engine's process with that number.
  case engine(Int, SupervisedProcess.Message)
  /// The result of a command that the engine got over its control socket.
  case answered(Int, Result<JSONValue, ControlError>)
  /// A message of the build with that number.
  case build(Int, SupervisedProcess.Message)
  /// A line on standard input.
  case typed(String)
  case interrupted(Int32)
  case outputFailed(ByteOutput.Failure)
}
