/// How far a run has come.
struct RunCounts: Sendable {
  /// Lines that have a result.
  var completed = 0
  /// Those with an error, bad lines included.
  var failed = 0
  /// Lines that were no request.
  var invalid = 0
  /// Lines that were read and not begun, because the run was interrupted.
  var dropped = 0
}
