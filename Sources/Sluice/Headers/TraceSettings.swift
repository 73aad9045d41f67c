import SluiceMessages
import SluicePipeline
import SluiceTraceContext

/// How traces begin and go on in the built-in `headers`.
struct TraceSettings: Sendable {
  var propagators = Propagators([])
  var sampler = Sampler()
  /// Whether an unsampled trace is kept to ourselves.
  var isSampledOnly = false
  /// Whether no trace begins here, and the caller's is handed on as it is.
  var isDisabled = false

  /// What the trace headers of this hop say, with a span id of its own.
  ///
  /// The transaction's id is the id of a trace that it begins: it is the same over all attempts and hops without being kept
  /// anywhere, and its right seven bytes are random.
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
