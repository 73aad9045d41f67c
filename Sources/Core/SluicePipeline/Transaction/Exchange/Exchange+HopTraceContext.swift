import SluiceTraceContext

extension Exchange {
  /// The place of the current hop in a trace. [loop]
  package var hopTraceContext: HopTraceContext {
    let caller = parent.trace
    var context = HopTraceContext()
    (context.traceID, context.parentSpanID, context.flags) = (caller?.traceID, caller?.spanID, caller?.flags ?? [])
    guard let trace = traceOfHop else { return context }
    if trace.traceID != caller?.traceID { context.parentSpanID = nil }
    context.traceID = trace.traceID
    context.spanID = trace.spanID
    context.flags = trace.flags
    return context
  }
}
