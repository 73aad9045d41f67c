// What tracers are told about the spans of stages.
extension Transaction {
  /// Reports the spans that stages have ended. Call it before the attempt, the hop or the trace changes, because events
  /// contain all three.
  func tellSpans() {
    guard let entries = spans?.takeEnded(), !entries.isEmpty else { return }
    clock = loop.now
    let trace = hopTraceContext.traceID
    for var entry in entries {
      // A request sent since the span began says which trace the transaction is in.
      if !entry.isTraceKnown, let trace { entry.span.traceID = trace }
      emitSpan(entry.span)
    }
  }

  /// Ends the spans that stages have left open, because the transaction ends.
  func endSpans() {
    spans?.endAll(at: loop.now)
    tellSpans()
  }
}
