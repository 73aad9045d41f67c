/// The trace context that the caller gave, as the values of the W3C headers.
///
/// The values are checked once, when they are set, and not again in each hop.
public struct ParentContext: Sendable {
  /// The values; nil if none was given.
  @usableFromInline private(set) var content: Content?

  /// - Parameters:
  ///   - sampling: what the caller says about sampling, if `traceparent` cannot express it: an open decision, a debug
  ///     trace, or a decision for a trace that has not begun yet. If this is nil, the flags of `traceparent` decide.
  ///   - refusals: the headers of the carrier that could not be used; for explanations.
  public init(
    traceparent: String? = nil, tracestate: String? = nil, baggage: String? = nil, sampling: SamplingState? = nil,
    refusals: [InvalidContext] = []
  ) {
    let isEmpty = traceparent == nil && tracestate == nil && baggage == nil && sampling == nil && refusals.isEmpty
    guard !isEmpty else { return }
    let trace = traceparent.flatMap { try? TraceParent($0.utf8.span) }
    content = Content(trace, traceparent, tracestate, baggage, sampling, refusals)
  }

  /// No context.
  package static var absent: ParentContext { ParentContext(content: nil) }

  private init(content: Content?) { self.content = content }

  /// Makes a context from a trace that was already parsed.
  init(
    _ trace: TraceParent, tracestate: String?, baggage: String?, sampling: SamplingState?, refusals: [InvalidContext]
  ) {
    let isValid = !trace.traceID.isZero && trace.spanID != 0
    content = Content(
      isValid ? trace : nil, isValid ? nil : trace.description, tracestate, baggage, sampling, refusals)
  }

  /// The parsed ``traceparent``; nil if it is absent or not valid.
  public var trace: TraceParent? { content?.trace }

  /// The trace, if it is valid, and the sampling decision. If ``sampling`` is nil, the trace's flags decide.
  var caller: (trace: TraceParent?, sampling: SamplingState?) { content?.caller ?? (nil, nil) }

  /// The value as it was given, valid or not; setting it also sets ``trace``.
  public var traceparent: String? {
    get { content.flatMap { $0.traceparent ?? $0.trace?.description } }
    set {
      self = ParentContext(
        traceparent: newValue, tracestate: tracestate, baggage: baggage, sampling: sampling, refusals: refusals)
    }
  }
  /// The value as it was given, valid or not; only a valid state is passed on.
  public var tracestate: String? {
    get { content?.tracestate }
    set {
      self = ParentContext(
        traceparent: traceparent, tracestate: newValue, baggage: baggage, sampling: sampling, refusals: refusals)
    }
  }
  /// The value as it was given; only its valid members are passed on.
  public var baggage: String? {
    get { content?.baggage }
    set {
      self = ParentContext(
        traceparent: traceparent, tracestate: tracestate, baggage: newValue, sampling: sampling, refusals: refusals)
    }
  }
  /// What the caller says about sampling. If this is nil, the flags of ``traceparent`` decide.
  public var sampling: SamplingState? {
    get { content?.sampling }
    set {
      self = ParentContext(
        traceparent: traceparent, tracestate: tracestate, baggage: baggage, sampling: newValue, refusals: refusals)
    }
  }
  /// The headers of the carrier that could not be used.
  public var refusals: [InvalidContext] {
    get { content?.refusals ?? [] }
    set {
      self = ParentContext(
        traceparent: traceparent, tracestate: tracestate, baggage: baggage, sampling: sampling, refusals: newValue)
    }
  }
}

extension ParentContext: Hashable {
  /// Compares the given values, the sampling state and the refusals.
  public static func == (left: Self, right: Self) -> Bool {
    left.content === right.content
      || left.traceparent == right.traceparent && left.tracestate == right.tracestate && left.baggage == right.baggage
        && left.sampling == right.sampling && left.refusals == right.refusals
  }

  /// Hashes the members that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(traceparent)
    hasher.combine(tracestate)
    hasher.combine(baggage)
    hasher.combine(sampling)
    hasher.combine(refusals)
  }
}

extension ParentContext {
  /// The values are in one object, so that a copy of the context costs one retain. A hop reads them only through
  /// methods of this object. The caller keeps the object alive during such a call, so reference counting is not needed.
  @usableFromInline
  final class Content: Sendable {
    /// The parsed ``traceparent``; nil if it is absent or not valid.
    let trace: TraceParent?
    /// The value as it was given; also nil if the trace was already parsed.
    let traceparent: String?
    let tracestate: String?
    let baggage: String?
    /// The valid part of ``tracestate``; empty if no part is valid.
    @usableFromInline let validState: String
    /// The valid state, if it has a sampling threshold.
    private let openTelemetryState: OpenTelemetryState?
    /// The part of ``baggage`` that is passed on.
    @usableFromInline let validBaggage: String
    let sampling: SamplingState?
    let refusals: [InvalidContext]

    init(
      _ trace: TraceParent?, _ traceparent: String?, _ tracestate: String?, _ baggage: String?,
      _ sampling: SamplingState?, _ refusals: [InvalidContext]
    ) {
      self.trace = trace
      self.traceparent = traceparent
      self.tracestate = tracestate
      self.baggage = baggage
      validState = tracestate.flatMap { TraceState.valid($0) } ?? ""
      openTelemetryState = OpenTelemetryState(validState)
      validBaggage = baggage.flatMap { Baggage.valid($0) } ?? ""
      self.sampling = sampling
      self.refusals = refusals
    }

    var caller: (trace: TraceParent?, sampling: SamplingState?) {
      (trace, sampling ?? trace.map { $0.flags.contains(.sampled) ? .accepted : .denied })
    }

    /// What happens to the sampling threshold in a hop.
    ///
    /// If the sampler decides by itself, the caller's threshold does not apply. The sampler's own threshold is known
    /// only if the sampler samples everything. If the hop takes the caller's decision, the caller's threshold is kept,
    /// unless it contradicts that decision.
    func threshold(of trace: TraceParent, isSampled: Bool, inherited: Bool, by sampler: Sampler) -> HopSpan.Threshold {
      guard let openTelemetryState else { return .kept }
      guard inherited else { return isSampled && sampler.samplesAll ? .zero : .removed }
      let stated = openTelemetryState.samples(trace.traceID, isRandom: trace.flags.contains(.random))
      let isTrue = trace.flags.contains(.sampled) == isSampled && (stated == nil || stated == isSampled)
      return isTrue ? .kept : .removed
    }

    /// The part of ``tracestate`` that is passed on; empty if no part is.
    @usableFromInline
    func state(_ threshold: HopSpan.Threshold) -> String {
      guard let openTelemetryState else { return validState }
      return switch threshold {
      case .kept: validState
      case .zero: openTelemetryState.samplingAll
      case .removed: openTelemetryState.withoutThreshold
      }
    }

    /// - Returns: whether there is a state to pass on.
    @inlinable @inline(never)
    func placeState(_ threshold: HopSpan.Threshold, _ headers: inout some HeaderSink) -> Bool {
      if threshold == .kept { return place(validState, &headers) }
      return place(state(threshold), &headers)
    }

    @inlinable
    func place(_ state: String, _ headers: inout some HeaderSink) -> Bool {
      guard !state.isEmpty else { return false }
      headers.place("tracestate".utf8.span, state.utf8.span)
      return true
    }

    @inlinable @inline(never)
    func placeBaggage(_ headers: inout some HeaderSink) {
      if !validBaggage.isEmpty { headers.place("baggage".utf8.span, validBaggage.utf8.span) }
    }
  }
}
