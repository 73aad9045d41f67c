package import SluiceTraceContext

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
