public import SluiceTraceContext

/// The parts of a stage's span that the rules of the ledger check.
public struct LedgerSpan: Sendable, Hashable {
  public var traceID: TraceID
  public var id: UInt64
  public var parentID: UInt64?
  public var start: Instant
  public var end: Instant

  public init(traceID: TraceID, id: UInt64, parentID: UInt64? = nil, start: Instant, end: Instant) {
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
