/// What the trace headers of one hop say, however a propagator spells it. Handed around without copies.
public struct HopTrace: ~Copyable, Sendable {
  public let span: HopSpan
  public let parent: ParentContext

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

  public var traceParent: TraceParent? { span.traceParent }
  public var isContinued: Bool { span.isContinued }
  public var sampling: SamplingState { span.sampling }
  public var isSampled: Bool { span.isSampled }

  /// The valid `tracestate` that goes with the trace; nil where the trace is not the caller's, or nothing is left of the state.
  public var state: String? {
    guard isContinued, let state = parent.content?.state(span.threshold) else { return nil }
    return state.isEmpty ? nil : state
  }
}
