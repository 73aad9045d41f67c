package import SluiceMessages
package import SluiceTraceContext

/// The headers of a hop as they were sent, including those that its issue stages have set.
package struct IssuedFields: Sendable {
  package let headers: HeaderFields

  init(_ headers: HeaderFields) { self.headers = headers }

  /// The trace and the span of the hop, from the `traceparent` that was sent. More than one `traceparent` is invalid.
  var trace: TraceParent? {
    let name = "traceparent"
    guard let index = headers.firstIndex(named: name.utf8.span),
      headers.firstIndex(named: name.utf8.span, from: index + 1) == nil
    else { return nil }
    let bytes = headers.buffer
    return try? TraceParent(bytes.span.extracting(headers.valueRange(at: index)))
  }
}

/// The hop's place in a trace, as far as it is known.
package struct HopTraceContext: Sendable, Hashable {
  /// The trace of the hop, otherwise of the caller.
  package var traceID: TraceID?
  /// The span of the hop; nil if none was sent.
  package var spanID: UInt64?
  /// The span of the caller, if the hop is in the caller's trace.
  package var parentSpanID: UInt64?
  package var flags: TraceParent.Flags = []
}

extension Exchange {
  /// The current hop's place in a trace. Read from the fields on each access. [loop]
  package var hopTraceContext: HopTraceContext {
    let caller = parent.trace
    var context = HopTraceContext(traceID: caller?.traceID, parentSpanID: caller?.spanID, flags: caller?.flags ?? [])
    guard let trace = issued?.trace else { return context }
    if trace.traceID != caller?.traceID { context.parentSpanID = nil }
    context.traceID = trace.traceID
    context.spanID = trace.spanID
    context.flags = trace.flags
    return context
  }
}
