package import SluiceMessages

/// The first event in a log that breaks a rule of the ledger.
package struct LedgerViolation: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule; its raw value is meant for programs.
  package enum Rule: String, Sendable, Hashable {
    /// Every `will_execute` has one `did_complete`, and every other event is between the two.
    case balance
    /// The order of events.
    case order
    /// Attempts, hops and events are numbered from 0, without a gap.
    case numbering
    /// Times do not go back, delays are respected, phases fit into the time between events.
    case timing
    /// The status in an event is the status that was received, unless the event says that a stage has changed the
    /// status.
    case status
    /// The outcome of a transaction fits its events.
    case outcome
    /// A transaction's ids and its snapshot never change, and each span ends once; a hop's method, URL, trace and span
    /// never change.
    case identity
  }

  package let rule: Rule
  /// The position of the event in the log, from 1; if an end is missing, the position of the `will_execute`.
  package let line: Int
  package let transaction: TransactionID
  /// What was found, and what was expected.
  package let message: String

  package var description: String { "line \(line): transaction \(transaction): \(message)" }
}
