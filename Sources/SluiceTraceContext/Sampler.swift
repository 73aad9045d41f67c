/// Decides which traces are sampled, by the trace id alone, so that every hop of a trace in every process comes to the same
/// decision (OpenTelemetry, "TraceState: Probability Sampling").
public struct Sampler: Sendable, Hashable {
  /// Of how many random values a trace id may have.
  private static let values: UInt64 = 1 << 56

  /// Whether a decision of the caller is taken over.
  public let isParentBased: Bool
  /// How many of the ``values`` are turned away: 0 samples all traces, ``values`` none.
  private let threshold: UInt64

  /// `parentbased_always_on`, the default of OpenTelemetry.
  public init() { self.init(.parentBasedAlwaysOn) }

  public init(_ kind: Kind, ratio: Double = 1) {
    isParentBased = kind.isParentBased
    threshold =
      switch kind {
      case .alwaysOn, .parentBasedAlwaysOn: 0
      case .alwaysOff, .parentBasedAlwaysOff: Self.values
      case .traceIDRatio, .parentBasedTraceIDRatio: Self.threshold(ratio)
      }
  }

  /// The names that `OTEL_TRACES_SAMPLER` gives them.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case alwaysOn = "always_on"
    case alwaysOff = "always_off"
    case traceIDRatio = "traceidratio"
    case parentBasedAlwaysOn = "parentbased_always_on"
    case parentBasedAlwaysOff = "parentbased_always_off"
    case parentBasedTraceIDRatio = "parentbased_traceidratio"

    public var isParentBased: Bool {
      self == .parentBasedAlwaysOn || self == .parentBasedAlwaysOff || self == .parentBasedTraceIDRatio
    }
    public var takesRatio: Bool { self == .traceIDRatio || self == .parentBasedTraceIDRatio }
  }

  /// - Parameters:
  ///   - parent: the caller's decision; nil without one.
  ///   - state: the `tracestate` of the trace, which may bring a random value of its own.
  public func samples(_ traceID: TraceID, parent: SamplingState?, state: String?) -> Bool {
    decision(parent) ?? samples(traceID, state: state)
  }

  /// What is decided without a look at the trace.
  func decision(_ parent: SamplingState?) -> Bool? {
    if isParentBased {
      switch parent {
      case .accepted, .debug: return true
      case .denied: return false
      case .deferred, nil: break
      }
    }
    if threshold == 0 { return true }
    return threshold == Self.values ? false : nil
  }

  func samples(_ traceID: TraceID, state: String?) -> Bool {
    let random = state.flatMap { OpenTelemetryState.randomValue($0.utf8.span) } ?? traceID.low & (Self.values - 1)
    return random >= threshold
  }

  /// A ratio below the smallest that there is samples nothing.
  private static func threshold(_ ratio: Double) -> UInt64 {
    let ratio = min(max(ratio, 0), 1)
    return values - UInt64((ratio * Double(values)).rounded())
  }
}
