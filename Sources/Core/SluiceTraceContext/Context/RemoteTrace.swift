/// The trace of a request, as its sender wrote it in one family of headers.
public struct RemoteTrace: Sendable, Hashable {
  /// The id in its 128-bit form, even if the sender wrote 64 bits.
  public var traceID: TraceID
  /// The span of the sender, never 0.
  public var spanID: UInt64
  /// The sender's decision; with `deferred`, the receiver decides.
  public var sampling: SamplingState
  /// Whether the sender states that the right seven bytes of the trace id are random.
  public var isRandom: Bool
  /// A valid `tracestate`.
  public var state: String?

  /// Makes a trace without checks. The ids must not be 0, and the state must be valid.
  public init(
    traceID: TraceID, spanID: UInt64, sampling: SamplingState, isRandom: Bool = false, state: String? = nil
  ) {
    self.traceID = traceID
    self.spanID = spanID
    self.sampling = sampling
    self.isRandom = isRandom
    self.state = state
  }

  /// The trace in the form of W3C Trace Context, which has a bit for an accepted trace, but none for an open decision.
  public var traceParent: TraceParent {
    var flags: TraceParent.Flags = isRandom ? .random : []
    if sampling == .accepted || sampling == .debug { flags.insert(.sampled) }
    return TraceParent(traceID: traceID, spanID: spanID, flags: flags)
  }
}
