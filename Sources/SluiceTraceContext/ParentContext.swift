/// The trace context that the caller gave, as the values of the W3C headers.
public struct ParentContext: Sendable, Hashable {
  public var traceparent: String?
  public var tracestate: String?
  public var baggage: String?
  /// What the caller says about sampling, where `traceparent` cannot say it: that the decision is left open, that it is a
  /// debug trace, or a decision for a trace that has yet to begin. Nil leaves it to the flags of `traceparent`.
  public var sampling: SamplingState?
  /// What the carrier of the context held and could not be used; for explanations.
  public var refusals: [InvalidContext] = []

  public init(
    traceparent: String? = nil, tracestate: String? = nil, baggage: String? = nil, sampling: SamplingState? = nil
  ) {
    self.traceparent = traceparent
    self.tracestate = tracestate
    self.baggage = baggage
    self.sampling = sampling
  }
}
