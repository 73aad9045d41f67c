// What tracers are told of the spans of stages.
extension Transaction {
  /// Tells the spans that stages have ended. Before anything changes that an event says: attempt, hop and trace.
  func tellSpans() {
    guard let entries = exchange.spans?.takeEnded(), !entries.isEmpty else { return }
    clock = loop.now
    let trace = exchange.hopTraceContext.traceID
    for var entry in entries {
      // What was sent since it began says which trace the transaction is in.
      if !entry.isTraceKnown, let trace { entry.span.traceID = trace }
      emitSpan(entry.span)
    }
  }

  /// Ends what stages have left open, because the transaction ends.
  func endSpans() {
    exchange.spans?.endAll(at: loop.now)
    tellSpans()
  }
}
