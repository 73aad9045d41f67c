/// A broken rule in an event log.
struct LogComplaint: Error, CustomStringConvertible {
  /// The name of the rule in the table of `docs/command/verify-trace.md`.
  let rule: String
  let what: String

  init(_ rule: String, _ what: String) {
    self.rule = rule
    self.what = what
  }

  var description: String { "\(rule): \(what)" }
}
