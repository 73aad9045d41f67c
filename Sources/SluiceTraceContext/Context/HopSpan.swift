/// What one hop says of its trace, apart from what is passed on as the caller gave it.
public struct HopSpan: Sendable, Hashable {
  /// The trace of the transaction, with a span id of this hop alone; nil where no trace headers are written.
  public let traceParent: TraceParent?
  /// Whether the trace is the caller's; else their `tracestate` belongs to nothing.
  public let isContinued: Bool
  /// What the headers say about recording the trace; `deferred` in what is handed on alone.
  public let sampling: SamplingState

  /// What becomes of the threshold in the caller's `tracestate`.
  @usableFromInline let threshold: Threshold

  /// The sampling threshold of OpenTelemetry, `ot=th:…`.
  @usableFromInline
  enum Threshold: Sendable, Hashable {
    case kept
    /// It becomes `th:0`: every trace is sampled.
    case zero
    /// The decision follows none that is known.
    case removed
  }

  /// No trace: what is left of what the caller gave is the baggage.
  public static let none = HopSpan(traceParent: nil, isContinued: false, sampling: .denied, threshold: .kept)

  private init(traceParent: TraceParent?, isContinued: Bool, sampling: SamplingState, threshold: Threshold) {
    self.traceParent = traceParent
    self.isContinued = isContinued
    self.sampling = sampling
    self.threshold = threshold
  }

  /// Continues the caller's trace, or begins one where theirs is absent or invalid.
  ///
  /// - Parameters:
  ///   - newTraceID: the id of a trace that begins here. Its right seven bytes must be random, which is what the random flag
  ///     promises.
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

  /// Passes the caller's trace on unchanged, without a span of its own; without a trace, none begins.
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
