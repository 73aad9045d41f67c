import SluiceMessages
import SluicePipeline

/// What the trace headers of one hop say, however a propagator spells it.
struct HopTrace {
  /// The trace of the transaction, with a span id of this hop alone.
  let traceParent: TraceParent
  /// Whether the trace is the caller's; else their `tracestate` belongs to nothing.
  let isContinued: Bool
  let parent: ParentContext

  /// Continues the caller's trace, or makes the transaction a trace of its own where theirs is absent or invalid.
  ///
  /// The transaction's id is the id of such a trace: it is the same over all attempts and hops without being kept anywhere,
  /// and its right seven bytes are random, which is what the random flag promises. Such a trace is sampled, the default of
  /// OpenTelemetry (`parentbased_always_on`).
  init(_ exchange: Exchange) {
    parent = exchange.parent
    var spanID: UInt64 = 0
    while spanID == 0 { spanID = exchange.loop.random.next() }
    if let text = parent.traceparent, let caller = TraceParent(text.utf8.span) {
      traceParent = TraceParent(traceID: caller.traceID, spanID: spanID, flags: caller.flags)
      isContinued = true
    } else {
      let traceID = TraceID(high: exchange.id.high, low: exchange.id.low)
      traceParent = TraceParent(traceID: traceID, spanID: spanID, flags: [.sampled, .random])
      isContinued = false
    }
  }
}
