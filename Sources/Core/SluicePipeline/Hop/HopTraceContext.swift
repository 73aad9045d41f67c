package import SluiceTraceContext

/// The place of a hop in a trace; nil for each part that is not known.
package struct HopTraceContext: Sendable, Hashable {
  /// The trace in the headers that the hop has sent; if they name none, the caller's trace.
  package var traceID: TraceID?
  /// The span in the headers that the hop has sent; nil if they name none.
  package var spanID: UInt64?
  /// The caller's span; nil if the caller has none, or if the hop is in another trace.
  package var parentSpanID: UInt64?
  package var flags: TraceParent.Flags = []

  package init() {}
}
