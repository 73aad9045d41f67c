package import SluiceTraceContext

/// Where a hop belongs in a trace, as far as it is known.
package struct HopTraceContext: Sendable, Hashable {
  /// The trace that the hop has sent, otherwise the caller's trace.
  package var traceID: TraceID?
  /// The span that the hop has sent; nil if it has sent none.
  package var spanID: UInt64?
  /// The caller's span; nil if the caller has none, or if the hop is in another trace.
  package var parentSpanID: UInt64?
  package var flags: TraceParent.Flags = []
}
