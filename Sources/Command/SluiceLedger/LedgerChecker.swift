import SluiceMessages
import SluicePipeline

/// Checks the events of any number of transactions, mixed as they happen, against the rules of the ledger.
///
///     will_execute
///       attempt 0, 1, 2 …:  did_configure
///                             hop 0, 1 …:  did_issue ─ did_receive_informational* ─ did_receive ─ will_redirect?
///                                          did_end_hop, before or after will_redirect
///                           will_retry, if another attempt follows
///       did_validate_response ─ did_extract ─ did_validate_payload
///     did_complete
///
/// A `did_end_span` can come anywhere between the first and the last event. If a transaction ends early, all events
/// between some point and `did_complete` are missing. An event never appears without the events that must come before
/// it. The log must have every kind of event: a tracer that gets only some kinds sees gaps in the sequence. Memory
/// grows only with the number of open transactions.
package struct LedgerChecker: Sendable {
  /// The number of ended transactions that are remembered, to distinguish their late events from events of unknown
  /// transactions.
  static let remembered = 65_536

  private var open: [TransactionID: OpenTransaction] = [:]
  private var ended: [TransactionID: Int] = [:]
  private var endedInOrder: [TransactionID] = []
  private var oldest = 0
  /// The number of checked events.
  package private(set) var events = 0
  /// Transactions that began.
  package private(set) var transactions = 0

  package init() {}

  /// Takes the next event.
  /// - Parameter line: the position of the event in the log, for the violation. If it is nil, the checker counts the
  ///   events.
  /// - Throws: the rule that the event breaks. Events after a violation cannot be checked reliably.
  package mutating func check(_ entry: LedgerEntry, line: Int? = nil) throws(LedgerViolation) {
    events += 1
    let line = line ?? events
    guard var transaction = open[entry.transaction] else { return try begin(entry, line) }
    do { try transaction.take(entry) } catch { throw violation(error, entry, line) }
    if entry.kind == .didComplete {
      open[entry.transaction] = nil
      remember(entry.transaction, line)
    } else {
      open[entry.transaction] = transaction
    }
  }

  /// Checks that every transaction has ended, at the end of the log.
  /// - Throws: if a transaction has no end. The error names the first such transaction.
  package func finish() throws(LedgerViolation) {
    guard let (id, first) = open.min(by: { $0.value.line < $1.value.line }) else { return }
    let others = open.count == 1 ? "" : ", nor have \(open.count - 1) other transactions"
    throw LedgerViolation(
      rule: .balance, line: first.line, transaction: id,
      message: "this will_execute has no did_complete before the end of the log\(others)")
  }

  private mutating func begin(_ entry: LedgerEntry, _ line: Int) throws(LedgerViolation) {
    do throws(LedgerBreach) {
      if let end = ended[entry.transaction] {
        throw LedgerBreach(
          .balance,
          "\(entry.kind.name) after the did_complete of line \(end); expected nothing more of this transaction")
      }
      guard entry.kind == .willExecute else {
        throw LedgerBreach(
          .balance, "\(entry.kind.name) without a will_execute before it; expected will_execute first")
      }
      open[entry.transaction] = try OpenTransaction(entry, line)
      transactions += 1
    } catch { throw violation(error, entry, line) }
  }

  private func violation(_ breach: LedgerBreach, _ entry: LedgerEntry, _ line: Int) -> LedgerViolation {
    LedgerViolation(rule: breach.rule, line: line, transaction: entry.transaction, message: breach.message)
  }

  private mutating func remember(_ id: TransactionID, _ line: Int) {
    ended[id] = line
    guard endedInOrder.count == Self.remembered else { return endedInOrder.append(id) }
    ended[endedInOrder[oldest]] = nil
    endedInOrder[oldest] = id
    oldest = (oldest + 1) % Self.remembered
  }
}
