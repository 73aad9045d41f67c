/// The content of one hop's trace headers, independent of a propagator's spelling. It is a noncopyable type, so it is
/// passed on without copies.
public struct HopTrace: ~Copyable, Sendable {
  /// The ids and the sampling decision of the hop.
  public let span: HopSpan
  /// The caller's context; its state and baggage are passed on.
  public let parent: ParentContext

  /// - Parameter parent: the context from which the span was made. This is not checked.
  public init(_ span: HopSpan, _ parent: consuming ParentContext) {
    self.span = span
    self.parent = parent
  }

  /// Continues the caller's trace, or begins a new trace if the caller's trace is absent or invalid; see ``HopSpan``.
  public init(_ parent: consuming ParentContext, newTraceID: TraceID, spanID: UInt64, sampler: Sampler = Sampler()) {
    span = HopSpan(below: parent, newTraceID: newTraceID, spanID: spanID, sampler: sampler)
    self.parent = parent
  }

  /// Passes the caller's trace on unchanged, without a span for this hop. If there is no trace to pass on, this does
  /// not begin one.
  public init(handingOn parent: consuming ParentContext) {
    span = HopSpan(handingOn: parent)
    self.parent = parent
  }

  /// The ids that the hop sends; nil if no trace headers are written.
  public var traceParent: TraceParent? { span.traceParent }
  /// Whether the trace is the caller's; false if it begins here.
  public var isContinued: Bool { span.isContinued }
  /// What the headers say about recording the trace.
  public var sampling: SamplingState { span.sampling }
  /// Whether ``sampling`` is `accepted` or `debug`.
  public var isSampled: Bool { span.isSampled }

  /// The valid `tracestate` of the trace; nil if the trace is not the caller's, or if no part of the state is valid.
  public var state: String? {
    guard isContinued, let state = parent.content?.state(span.threshold) else { return nil }
    return state.isEmpty ? nil : state
  }
}
