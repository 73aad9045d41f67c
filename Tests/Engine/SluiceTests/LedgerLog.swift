import Sluice
import SluiceLedger
import SluicePipeline
import SluiceSupport
import Testing

/// Records the ledger of an engine and checks it against the rules.
final class LedgerLog: Sendable {
  private let log = Locked<[LedgerEntry]>([])

  var entries: [LedgerEntry] { log.withLock { $0 } }
  var kinds: [TraceEvent.Kind] { entries.map(\.kind) }

  /// A tracer that appends each event to this log.
  var code: StageCode { StageCode(observing: { event in self.log.withLock { $0.append(LedgerEntry(event)) } }) }

  func first(_ kind: TraceEvent.Kind) throws -> LedgerEntry { try #require(entries.first { $0.kind == kind }) }

  /// The first violation of a rule, or nil if the log is valid and every transaction has its end.
  var violation: LedgerViolation? {
    var checker = LedgerChecker()
    do {
      for entry in entries { try checker.check(entry) }
      try checker.finish()
      return nil
    } catch { return error }
  }
}
