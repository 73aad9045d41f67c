import SluiceMessages

/// `traceparent` and `tracestate` of W3C Trace Context level 2.
public struct TraceContextPropagator: Propagator {
  /// The name in `OTEL_PROPAGATORS`: `tracecontext`.
  public static let name = "tracecontext"
  /// `tracestate` is set only together with `traceparent`.
  public static let headerNames = ["traceparent", "tracestate"]

  /// Makes the propagator, which has no settings and no state.
  @inlinable public init() {}

  /// Sets `traceparent`. Sets `tracestate` if the trace is the caller's and has a valid state, otherwise removes it.
  ///
  /// Does nothing without a trace. Does not change `tracestate` if the sink keeps another `traceparent`.
  public func inject(_ trace: borrowing HopTrace, into headers: inout some HeaderSink) {
    Self.inject(trace.span, of: trace.parent, into: &headers)
  }

  @inlinable
  static func inject(_ span: HopSpan, of parent: borrowing ParentContext, into headers: inout some HeaderSink) {
    guard let trace = span.traceParent else { return }
    let value = trace.value
    // If the sink keeps another `traceparent`, this state does not belong to that trace.
    guard headers.place("traceparent".utf8.span, value.span) else { return }
    if span.isContinued, parent.content?.placeState(span.threshold, &headers) == true { return }
    headers.withdraw("tracestate".utf8.span)
  }

  /// Reads `traceparent`, which must occur once. Reads `tracestate` only if the `traceparent` is valid. The trace stays
  /// valid when its `tracestate` is refused.
  public func extract(from carrier: some Carrier, into extraction: inout Extraction) {
    // More than one traceparent is invalid, and a state without a parent is ignored (§3.2.1, §3.3.1).
    guard let text = carrier.value(of: "traceparent", &extraction) else { return }
    let parent: TraceParent
    do throws(InvalidContext) { parent = try TraceParent(text.utf8.span) } catch { return extraction.refuse(error) }
    extraction.found(
      RemoteTrace(
        traceID: parent.traceID, spanID: parent.spanID,
        sampling: parent.flags.contains(.sampled) ? .accepted : .denied, isRandom: parent.flags.contains(.random),
        state: state(carrier, &extraction)),
      by: Self.name)
  }

  /// All lines form one list (§3.3.1.1). Empty lines are left out, because they would give empty members.
  private func state(_ carrier: some Carrier, _ extraction: inout Extraction) -> String? {
    let lines = carrier.values(of: "tracestate").filter { !TraceState.isEmpty($0.utf8.span) }
    let text = lines.joined(separator: ",")
    guard let content = TraceState.content(text.utf8.span) else {
      if !TraceState.isEmpty(text.utf8.span) {
        extraction.refuse(
          InvalidContext(
            "tracestate", "a key or value is not valid, or there are more than \(TraceState.maximumMembers) members"))
      }
      return nil
    }
    return String(copying: text.utf8.span.extracting(content))
  }
}
