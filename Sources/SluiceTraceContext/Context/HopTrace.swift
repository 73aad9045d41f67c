/// What the trace headers of one hop say, however a propagator spells it. Handed around without copies.
public struct HopTrace: ~Copyable, Sendable {
  /// The ids and the sampling decision of the hop.
  public let span: HopSpan
  /// What the caller gave; its state and baggage are passed on.
  public let parent: ParentContext

  /// - Parameter parent: the context that the span was made from, which is not checked.
  public init(_ span: HopSpan, _ parent: consuming ParentContext) {
    self.span = span
    self.parent = parent
  }

  /// Continues the caller's trace, or begins one where theirs is absent or invalid; see ``HopSpan``.
  public init(_ parent: consuming ParentContext, newTraceID: TraceID, spanID: UInt64, sampler: Sampler = Sampler()) {
    span = HopSpan(below: parent, newTraceID: newTraceID, spanID: spanID, sampler: sampler)
    self.parent = parent
  }

  /// Passes the caller's trace on unchanged, without a span of its own; without a trace, none begins.
  public init(handingOn parent: consuming ParentContext) {
    span = HopSpan(handingOn: parent)
    self.parent = parent
  }

  /// The ids that the hop sends; nil where no trace headers are written.
  public var traceParent: TraceParent? { span.traceParent }
  /// Whether the trace is the caller's, and not one that begins here.
  public var isContinued: Bool { span.isContinued }
  /// What the headers say about recording the trace.
  public var sampling: SamplingState { span.sampling }
  /// Whether ``sampling`` is `accepted` or `debug`.
  public var isSampled: Bool { span.isSampled }

  /// The valid `tracestate` that goes with the trace; nil where the trace is not the caller's, or nothing is left of the state.
  public var state: String? {
    guard isContinued, let state = parent.content?.state(span.threshold) else { return nil }
    return state.isEmpty ? nil : state
  }
}
