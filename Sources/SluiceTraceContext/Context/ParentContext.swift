/// The trace context that the caller gave, as the values of the W3C headers.
///
/// What of them is valid is found out once, when they are given, and not again in each hop.
public struct ParentContext: Sendable {
  /// Nil where nothing was given.
  @usableFromInline private(set) var content: Content?

  /// - Parameters:
  ///   - sampling: what the caller says about sampling, where `traceparent` cannot say it: that the decision is left open,
  ///     that it is a debug trace, or a decision for a trace that has yet to begin. Nil leaves it to the flags of `traceparent`.
  ///   - refusals: what the carrier of the context held and could not be used; for explanations.
  public init(
    traceparent: String? = nil, tracestate: String? = nil, baggage: String? = nil, sampling: SamplingState? = nil,
    refusals: [InvalidContext] = []
  ) {
    let isEmpty = traceparent == nil && tracestate == nil && baggage == nil && sampling == nil && refusals.isEmpty
    guard !isEmpty else { return }
    let trace = traceparent.flatMap { try? TraceParent($0.utf8.span) }
    content = Content(trace, traceparent, tracestate, baggage, sampling, refusals)
  }

  /// For a trace that has been read already.
  init(
    _ trace: TraceParent, tracestate: String?, baggage: String?, sampling: SamplingState?, refusals: [InvalidContext]
  ) {
    let isValid = !trace.traceID.isZero && trace.spanID != 0
    content = Content(
      isValid ? trace : nil, isValid ? nil : trace.description, tracestate, baggage, sampling, refusals)
  }

  /// What ``traceparent`` says; nil where it is absent or not valid.
  public var trace: TraceParent? { content?.trace }

  /// The trace, if it is valid, and the decision about one, by its flags where nothing else says it.
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
  /// What the caller says about sampling; nil leaves it to the flags of ``traceparent``.
  public var sampling: SamplingState? {
    get { content?.sampling }
    set {
      self = ParentContext(
        traceparent: traceparent, tracestate: tracestate, baggage: baggage, sampling: newValue, refusals: refusals)
    }
  }
  /// What the carrier held and could not be used; empty where nothing was refused.
  public var refusals: [InvalidContext] {
    get { content?.refusals ?? [] }
    set {
      self = ParentContext(
        traceparent: traceparent, tracestate: tracestate, baggage: baggage, sampling: sampling, refusals: newValue)
    }
  }
}

extension ParentContext: Hashable {
  /// Compares the values as they were given, the sampling state and the refusals.
  public static func == (left: Self, right: Self) -> Bool {
    left.content === right.content
      || left.traceparent == right.traceparent && left.tracestate == right.tracestate && left.baggage == right.baggage
        && left.sampling == right.sampling && left.refusals == right.refusals
  }

  /// Combines what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(traceparent)
    hasher.combine(tracestate)
    hasher.combine(baggage)
    hasher.combine(sampling)
    hasher.combine(refusals)
  }
}

extension ParentContext {
  /// Behind one reference, so that a copy costs one retain. A hop reads it only through its own methods: the caller
  /// keeps it alive, so no reference is counted.
  @usableFromInline
  final class Content: Sendable {
    /// What ``traceparent`` says; nil where it is absent or not valid.
    let trace: TraceParent?
    /// As it was given; nil also where the trace had been read already.
    let traceparent: String?
    let tracestate: String?
    let baggage: String?
    /// What of ``tracestate`` is valid; empty where nothing is.
    @usableFromInline let validState: String
    /// The same, where it has a sampling threshold.
    private let openTelemetryState: OpenTelemetryState?
    /// What of ``baggage`` is passed on.
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

    /// What becomes of the sampling threshold in a hop.
    ///
    /// A sampler that decides by itself has a threshold of its own: none is known but that of one which samples everything. A
    /// decision that was taken over keeps the caller's, unless it contradicts that decision.
    func threshold(of trace: TraceParent, isSampled: Bool, inherited: Bool, by sampler: Sampler) -> HopSpan.Threshold {
      guard let openTelemetryState else { return .kept }
      guard inherited else { return isSampled && sampler.samplesAll ? .zero : .removed }
      let stated = openTelemetryState.samples(trace.traceID, isRandom: trace.flags.contains(.random))
      let isTrue = trace.flags.contains(.sampled) == isSampled && (stated == nil || stated == isSampled)
      return isTrue ? .kept : .removed
    }

    /// What of ``tracestate`` is passed on; empty where nothing is.
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
