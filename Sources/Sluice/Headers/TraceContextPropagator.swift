import SluicePipeline

/// `traceparent` and `tracestate` of W3C Trace Context level 2.
struct TraceContextPropagator: Propagator {
  static let name = "tracecontext"
  static let headerNames = ["traceparent", "tracestate"]

  func inject(_ trace: HopTrace, into headers: inout HopHeaders) {
    let value = trace.traceParent.value
    // Who has set traceparent speaks of another trace, to which our state says nothing.
    guard headers.place("traceparent".utf8.span, value.span) else { return }
    guard trace.isContinued, let state = trace.parent.tracestate, let content = TraceState.content(state.utf8.span)
    else {
      return headers.withdraw("tracestate".utf8.span)
    }
    headers.place("tracestate".utf8.span, state.utf8.span.extracting(content))
  }
}
