/// The ids and the sampling decision of one hop. It does not contain the caller's values that are passed on unchanged.
public struct HopSpan: Sendable, Hashable {
  /// The trace of the transaction, with a span id that only this hop has; nil if no trace headers are written.
  public let traceParent: TraceParent?
  /// Whether the trace is the caller's. If not, the caller's `tracestate` is not sent.
  public let isContinued: Bool
  /// What the headers say about recording the trace; `deferred` occurs only in a trace that is passed on unchanged.
  public let sampling: SamplingState

  /// What happens to the threshold in the caller's `tracestate`.
  @usableFromInline let threshold: Threshold

  /// The sampling threshold of OpenTelemetry, `ot=th:…`.
  @usableFromInline
  enum Threshold: Sendable, Hashable {
    case kept
    /// The threshold becomes `th:0`, which means that every trace is sampled.
    case zero
    /// The threshold is removed, because the decision does not follow any known threshold.
    case removed
  }

  /// A hop without a trace. Only the baggage of the caller's context is sent.
  public static let none = HopSpan(traceParent: nil, isContinued: false, sampling: .denied, threshold: .kept)

  private init(traceParent: TraceParent?, isContinued: Bool, sampling: SamplingState, threshold: Threshold) {
    self.traceParent = traceParent
    self.isContinued = isContinued
    self.sampling = sampling
    self.threshold = threshold
  }

  /// Continues the caller's trace, or begins a new trace if the caller's trace is absent or invalid.
  ///
  /// - Parameters:
  ///   - newTraceID: the id of a trace that begins here. Its right seven bytes must be random, because the random flag
  ///     promises this.
  ///   - spanID: not 0.
  public init(
    below parent: borrowing ParentContext, newTraceID: TraceID, spanID: UInt64, sampler: Sampler = Sampler()
  ) {
    let caller = parent.caller
    var flags: TraceParent.Flags = caller.trace?.flags.intersection(.random) ?? .random
    let traceID = caller.trace?.traceID ?? newTraceID
    let inherited = sampler.inherited(caller.sampling)
    let isSampled = inherited ?? sampler.samples(traceID)
    if isSampled { flags.insert(.sampled) }
    traceParent = TraceParent(traceID: traceID, spanID: spanID, flags: flags)
    isContinued = caller.trace != nil
    sampling = isSampled ? caller.sampling == .debug ? .debug : .accepted : .denied
    if let trace = caller.trace, let content = parent.content {
      threshold = content.threshold(of: trace, isSampled: isSampled, inherited: inherited != nil, by: sampler)
    } else {
      threshold = .kept
    }
  }

  /// Passes the caller's trace on unchanged, without a span for this hop. If there is no trace to pass on, this does
  /// not begin one.
  public init(handingOn parent: borrowing ParentContext) {
    let caller = parent.caller
    traceParent = caller.trace
    isContinued = caller.trace != nil
    sampling = caller.sampling ?? .denied
    threshold = .kept
  }

  /// Whether ``sampling`` is `accepted` or `debug`.
  public var isSampled: Bool { sampling == .accepted || sampling == .debug }
}
