/// The progress of a run, in lines.
struct RunCounts: Sendable {
  /// Lines that have a result.
  var completed = 0
  /// Lines whose result is an error, including invalid lines.
  var failed = 0
  /// Lines that are not a request.
  var invalid = 0
  /// Lines that were read but not begun, because the run was interrupted.
  var dropped = 0
  /// Results of an earlier run that are kept.
  var kept = 0
  /// Results of an earlier run that are kept and are errors.
  var keptFailed = 0
}
