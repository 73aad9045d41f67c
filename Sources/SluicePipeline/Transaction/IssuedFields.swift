package import SluiceMessages
package import SluiceTraceContext

/// The header of a hop as it was sent, with what its issue stages have set.
package struct IssuedFields: Sendable {
  package let headers: HeaderFields

  init(_ headers: HeaderFields) { self.headers = headers }

  /// The trace and the span of the hop, as a valid `traceparent` tells the server. Of more than one, none is valid.
  var trace: TraceParent? {
    let name = "traceparent"
    guard let index = headers.firstIndex(named: name.utf8.span),
      headers.firstIndex(named: name.utf8.span, from: index + 1) == nil
    else { return nil }
    let bytes = headers.buffer
    return try? TraceParent(bytes.span.extracting(headers.valueRange(at: index)))
  }
}

/// Where a hop belongs in a trace, as far as it is known.
package struct HopTraceContext: Sendable, Hashable {
  /// Of the hop, else of the caller.
  package var traceID: TraceID?
  /// Of the hop; nil where none was sent.
  package var spanID: UInt64?
  /// Of the caller, where the hop is in the caller's trace.
  package var parentSpanID: UInt64?
  package var flags: TraceParent.Flags = []
}

extension Exchange {
  /// Where the current hop belongs in a trace. Read from the fields on each access. [loop]
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
