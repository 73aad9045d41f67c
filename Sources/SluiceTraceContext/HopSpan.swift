/// What one hop says of its trace, apart from what is passed on as the caller gave it.
public struct HopSpan: Sendable, Hashable {
  /// The trace of the transaction, with a span id of this hop alone; nil where no trace headers are written.
  public let traceParent: TraceParent?
  /// Whether the trace is the caller's; else their `tracestate` belongs to nothing.
  public let isContinued: Bool
  /// What the headers say about recording the trace; `deferred` in what is handed on alone.
  public let sampling: SamplingState

  /// No trace: what is left of what the caller gave is the baggage.
  public static let none = HopSpan(traceParent: nil, isContinued: false, sampling: .denied)

  init(traceParent: TraceParent?, isContinued: Bool, sampling: SamplingState) {
    self.traceParent = traceParent
    self.isContinued = isContinued
    self.sampling = sampling
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
    let isSampled: Bool
    if let decision = sampler.decision(caller.sampling) {
      isSampled = decision
    } else {
      isSampled = sampler.samples(traceID, state: caller.trace == nil ? nil : parent.tracestate)
    }
    if isSampled { flags.insert(.sampled) }
    traceParent = TraceParent(traceID: traceID, spanID: spanID, flags: flags)
    isContinued = caller.trace != nil
    sampling = isSampled ? caller.sampling == .debug ? .debug : .accepted : .denied
  }

  /// Hands the caller's trace on as it is, without a span of ours; where there is none, none begins.
  public init(handingOn parent: borrowing ParentContext) {
    let caller = parent.caller
    traceParent = caller.trace
    isContinued = caller.trace != nil
    sampling = caller.sampling ?? .denied
  }

  public var isSampled: Bool { sampling == .accepted || sampling == .debug }
}
