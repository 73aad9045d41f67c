/// What the trace headers of one hop say, however a propagator spells it.
public struct HopTrace: Sendable {
  /// The trace of the transaction, with a span id of this hop alone; nil where no trace headers are written.
  public let traceParent: TraceParent?
  /// Whether the trace is the caller's; else their `tracestate` belongs to nothing.
  public let isContinued: Bool
  /// Whether every sampler after this one is to let the trace pass.
  public let isDebug: Bool
  public let parent: ParentContext

  /// The `tracestate` that goes with the trace, valid or not; nil where the trace is not the caller's.
  public var state: String? { isContinued ? parent.tracestate : nil }

  public var isSampled: Bool { traceParent?.flags.contains(.sampled) ?? false }

  /// Continues the caller's trace, or begins one where theirs is absent or invalid.
  ///
  /// - Parameters:
  ///   - newTraceID: the id of a trace that begins here. Its right seven bytes must be random, which is what the random flag
  ///     promises.
  ///   - spanID: not 0.
  public init(_ parent: ParentContext, newTraceID: TraceID, spanID: UInt64, sampler: Sampler = Sampler()) {
    self.parent = parent
    let caller = Self.traceParent(of: parent)
    var flags: TraceParent.Flags = caller?.flags.intersection(.random) ?? .random
    let traceID = caller?.traceID ?? newTraceID
    let sampling = parent.sampling ?? caller.map { $0.flags.contains(.sampled) ? .accepted : .denied }
    let isSampled = sampler.samples(traceID, parent: sampling, state: caller == nil ? nil : parent.tracestate)
    if isSampled { flags.insert(.sampled) }
    traceParent = TraceParent(traceID: traceID, spanID: spanID, flags: flags)
    isContinued = caller != nil
    isDebug = isSampled && sampling == .debug
  }

  /// Hands the caller's trace on as it is, without a span of ours; where there is none, none begins.
  public init(handingOn parent: ParentContext) {
    self.parent = parent
    traceParent = Self.traceParent(of: parent)
    isContinued = traceParent != nil
    isDebug = parent.sampling == .debug
  }

  /// The same without a trace: what is left is the baggage.
  public var withoutTrace: HopTrace { HopTrace(baggageOf: parent) }

  private init(baggageOf parent: ParentContext) {
    self.parent = parent
    traceParent = nil
    isContinued = false
    isDebug = false
  }

  private static func traceParent(of parent: ParentContext) -> TraceParent? {
    guard let text = parent.traceparent else { return nil }
    return try? TraceParent(text.utf8.span)
  }
}
