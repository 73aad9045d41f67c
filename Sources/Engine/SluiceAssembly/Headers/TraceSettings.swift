import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// How traces begin and continue in the built-in `headers`.
struct TraceSettings: Sendable {
  var propagators = Propagators([])
  var sampler = Sampler()
  /// Whether the headers of an unsampled trace are left out.
  var isSampledOnly = false
  /// Whether the caller's trace is passed on unchanged, and no trace ever begins here.
  var isDisabled = false

  /// The content of the trace headers of this hop, with its own span id.
  ///
  /// If the transaction begins a trace, the id of the transaction is also the trace id. So the trace id is the same in
  /// all attempts and hops without being stored, and its rightmost seven bytes are random.
  func span(_ exchange: Exchange) -> HopSpan {
    if isDisabled { return HopSpan(handingOn: exchange.parent) }
    var spanID: UInt64 = 0
    while spanID == 0 { spanID = exchange.randomBits() }
    let span = HopSpan(
      below: exchange.parent, newTraceID: TraceID(high: exchange.id.high, low: exchange.id.low), spanID: spanID,
      sampler: sampler)
    return isSampledOnly && !span.isSampled ? .none : span
  }
}
