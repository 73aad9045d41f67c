/// A rule of an event log that was found broken.
struct LogComplaint: Error, CustomStringConvertible {
  /// As the table in `docs/command.md` names it.
  let rule: String
  let what: String

  init(_ rule: String, _ what: String) {
    self.rule = rule
    self.what = what
  }

  var description: String { "\(rule): \(what)" }
}
