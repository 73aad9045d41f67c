/// What the propagators found in a carrier.
///
/// The first of them that finds a valid trace decides it; the baggage is independent of that.
public struct Extraction: Sendable, Hashable {
  /// The first valid trace; nil if no propagator found one.
  public private(set) var trace: RemoteTrace?
  /// The name of the propagator that found the trace.
  public private(set) var propagator: String?
  /// A decision about a trace that has yet to begin; nil where there is a trace, which has its own.
  public private(set) var sampling: SamplingState?
  /// Valid members within the limits.
  public private(set) var baggage: String?
  /// What was there and could not be used, in the order of its discovery.
  public private(set) var refusals: [InvalidContext] = []

  /// A result in which nothing is found yet.
  public init() {}

  /// Takes the trace unless there is one already; a decision that was found without ids is dropped.
  public mutating func found(_ trace: RemoteTrace, by propagator: String) {
    guard self.trace == nil else { return }
    self.trace = trace
    self.propagator = propagator
    sampling = nil
  }

  /// For a carrier that holds a decision and no ids.
  public mutating func found(_ sampling: SamplingState) {
    if trace == nil, self.sampling == nil { self.sampling = sampling }
  }

  /// Takes the baggage unless there is some already. The caller passes valid members only; they are not checked here.
  public mutating func found(baggage: String) {
    if self.baggage == nil { self.baggage = baggage }
  }

  /// Says it once, though two propagators may read the same header.
  public mutating func refuse(_ refusal: InvalidContext) {
    if !refusals.contains(refusal) { refusals.append(refusal) }
  }

  /// The same for a transaction that continues the trace, whatever family of headers it came in.
  public var parent: ParentContext {
    guard let trace else { return ParentContext(baggage: baggage, sampling: sampling, refusals: refusals) }
    let isSaidByFlags = trace.sampling == .accepted || trace.sampling == .denied
    return ParentContext(
      trace.traceParent, tracestate: trace.state, baggage: baggage, sampling: isSaidByFlags ? nil : trace.sampling,
      refusals: refusals)
  }
}
