/// The trace context that the propagators found in a carrier.
///
/// The first propagator that finds a valid trace decides the trace. The baggage can come from another propagator.
public struct Extraction: Sendable, Hashable {
  /// The first valid trace; nil if no propagator found one.
  public private(set) var trace: RemoteTrace?
  /// The name of the propagator that found the trace.
  public private(set) var propagator: String?
  /// A sampling decision that was sent without a trace; nil if there is a trace, which has its own decision.
  public private(set) var sampling: SamplingState?
  /// The valid members of the baggage, within its limits; nil if there are none.
  public private(set) var baggage: String?
  /// The headers that were present but could not be used, in the order of their discovery.
  public private(set) var refusals: [InvalidContext] = []

  /// An empty result, before anything is found.
  public init() {}

  /// Takes the trace unless there is already one. If it is taken, a sampling decision that was found without ids is
  /// dropped.
  public mutating func found(_ trace: RemoteTrace, by propagator: String) {
    guard self.trace == nil else { return }
    self.trace = trace
    self.propagator = propagator
    sampling = nil
  }

  /// Takes a decision from a carrier that has no ids.
  public mutating func found(_ sampling: SamplingState) {
    if trace == nil, self.sampling == nil { self.sampling = sampling }
  }

  /// Takes the baggage unless there is already some. The caller must pass only valid members, because they are not
  /// checked here.
  public mutating func found(baggage: String) {
    if self.baggage == nil { self.baggage = baggage }
  }

  /// Adds a refusal only once, because two propagators may read the same header.
  public mutating func refuse(_ refusal: InvalidContext) {
    if !refusals.contains(refusal) { refusals.append(refusal) }
  }

  /// The parent context for a transaction that continues the trace, independent of the header family in which the trace
  /// came.
  public var parent: ParentContext {
    guard let trace else { return ParentContext(baggage: baggage, sampling: sampling, refusals: refusals) }
    let isSaidByFlags = trace.sampling == .accepted || trace.sampling == .denied
    return ParentContext(
      trace.traceParent, tracestate: trace.state, baggage: baggage, sampling: isSaidByFlags ? nil : trace.sampling,
      refusals: refusals)
  }
}
