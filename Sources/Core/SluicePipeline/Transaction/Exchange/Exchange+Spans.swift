package import SluiceMessages
import SluiceTraceContext

// The functions for spans of stages.
extension Exchange {
  /// Whether a tracer wants spans. If none does, no span is begun.
  package var wantsSpans: Bool { transaction?.pipeline.traced.contains(.didEndSpan) ?? detachedWantsSpans }

  /// Begins a span that belongs to the owner. Returns ``SpanHandle/none`` if no tracer wants spans, and nil if the
  /// transaction has too many spans. [loop]
  package func beginSpan(_ name: String, _ kind: SpanKind, of owner: AnyObject, named stage: String) -> SpanHandle? {
    guard wantsSpans else { return SpanHandle.none }
    guard spans?.isFull != true else { return nil }
    let trace = hopTraceContext
    let now = loop.now
    let span = StageSpan(
      name: name, kind: kind, stage: stage, traceID: trace.traceID ?? ownTraceID, id: newSpanBits(),
      parentID: trace.spanID ?? trace.parentSpanID, start: now, end: now)
    var table = spans.take() ?? SpanTable()
    let generation = UInt32(truncatingIfNeeded: newSpanBits() >> 32) | 1
    let handle = table.begin(
      span, of: ObjectIdentifier(owner), generation: generation, isTraceKnown: trace.traceID != nil)
    spans = table
    return handle
  }

  /// Sets an attribute of an open span. Returns false if the span has the maximum number of attributes, and nil if the
  /// owner has no such open span. [loop]
  package func setSpanAttribute(_ attribute: Attribute, of handle: SpanHandle, by owner: AnyObject) -> Bool? {
    spans?.change(handle, of: ObjectIdentifier(owner)) { $0.set(attribute, limit: SpanTable.maximumAttributes) } ?? nil
  }

  /// Sets the status of an open span. Returns false if the owner has no such open span. [loop]
  package func setSpanStatus(
    _ status: SpanStatus, _ message: String, of handle: SpanHandle, by owner: AnyObject
  ) -> Bool {
    let isChanged: Void? =
      spans?.change(handle, of: ObjectIdentifier(owner)) { span in
        span.status = status
        span.statusMessage = status == .error ? message : ""
      } ?? nil
    return isChanged != nil
  }

  /// Ends a span, which tracers get before the next event; false if the owner has no such open span. [loop]
  package func endSpan(_ handle: SpanHandle, by owner: AnyObject) -> Bool {
    spans?.end(handle, of: ObjectIdentifier(owner), at: loop.now) ?? false
  }

  /// The id of the trace that begins with this transaction if the caller has no trace.
  private var ownTraceID: TraceID { TraceID(high: id.high, low: id.low) }

  /// Random and not 0. A blocking call has no access to the generator of the loop.
  private func newSpanBits() -> UInt64 {
    var system = SystemRandomNumberGenerator()
    var bits: UInt64 = 0
    while bits >> 32 == 0 || bits & 0xFFFF_FFFF == 0 { bits = transaction == nil ? system.next() : randomBits() }
    return bits
  }
}
