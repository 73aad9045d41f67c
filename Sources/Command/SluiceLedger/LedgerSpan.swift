package import SluicePipeline
package import SluiceTraceContext

/// The parts of a stage's span that the rules of the ledger check.
package struct LedgerSpan: Sendable, Hashable {
  package var traceID: TraceID
  package var id: UInt64
  package var parentID: UInt64?
  package var start: Instant
  package var end: Instant

  package init(traceID: TraceID, id: UInt64, parentID: UInt64? = nil, start: Instant, end: Instant) {
    self.traceID = traceID
    self.id = id
    self.parentID = parentID
    self.start = start
    self.end = end
  }

  init(_ span: StageSpan) {
    self.init(traceID: span.traceID, id: span.id, parentID: span.parentID, start: span.start, end: span.end)
  }
}
