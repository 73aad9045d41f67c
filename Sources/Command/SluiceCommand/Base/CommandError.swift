/// Ends a command with a message and a status.
struct CommandError: Error, CustomStringConvertible {
  let status: ExitStatus
  /// What went wrong, on what, and what to do.
  let message: String

  var description: String { message }

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }
}
