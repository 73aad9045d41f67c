import SluiceMessages

/// A rule that an event breaks, without the position of the event.
struct LedgerBreach: Error {
  let rule: LedgerViolation.Rule
  let message: String

  init(_ rule: LedgerViolation.Rule, _ message: String) {
    self.rule = rule
    self.message = message
  }

  static func text(_ duration: Duration) -> String { "\(duration.nanoseconds) ns" }
}
