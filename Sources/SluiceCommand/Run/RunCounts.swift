/// How far a run has come.
struct RunCounts: Sendable {
  /// Lines that have a result.
  var completed = 0
  /// Lines whose result is an error, including invalid lines.
  var failed = 0
  /// Lines that were not a request.
  var invalid = 0
  /// Lines that were read and not begun, because the run was interrupted.
  var dropped = 0
  /// Results of an earlier run that stay.
  var kept = 0
  /// Those of them that are errors.
  var keptFailed = 0
}
