/// Decides which traces are sampled. The decision depends only on the trace id, so every hop, attempt and process makes
/// the same decision.
public struct Sampler: Sendable, Hashable {
  /// The number of possible results of ``value(_:)``.
  private static let values: UInt64 = 1 << 63

  /// Whether the sampler follows the caller's decision.
  public let isParentBased: Bool
  /// The number of ``values`` that are sampled. The sampled values are the lowest ones.
  private let bound: UInt64

  /// `parentbased_always_on`, the default of OpenTelemetry.
  public init() { self.init(.parentBasedAlwaysOn) }

  /// - Parameter ratio: the share of traces to sample, for the two kinds that use a ratio. A ratio of 0 or less, or
  ///   NaN, samples none; 1 or more samples all.
  public init(_ kind: Kind, ratio: Double = 1) {
    isParentBased = kind.isParentBased
    bound =
      switch kind {
      case .alwaysOn, .parentBasedAlwaysOn: Self.values
      case .alwaysOff, .parentBasedAlwaysOff: 0
      case .traceIDRatio, .parentBasedTraceIDRatio: Self.bound(ratio)
      }
  }

  /// The names of the samplers in `OTEL_TRACES_SAMPLER`.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case alwaysOn = "always_on"
    case alwaysOff = "always_off"
    case traceIDRatio = "traceidratio"
    case parentBasedAlwaysOn = "parentbased_always_on"
    case parentBasedAlwaysOff = "parentbased_always_off"
    case parentBasedTraceIDRatio = "parentbased_traceidratio"

    /// Whether the sampler follows the caller's decision, if there is one.
    public var isParentBased: Bool {
      self == .parentBasedAlwaysOn || self == .parentBasedAlwaysOff || self == .parentBasedTraceIDRatio
    }
    /// Whether this kind uses the ratio; other kinds ignore it.
    public var takesRatio: Bool { self == .traceIDRatio || self == .parentBasedTraceIDRatio }
  }

  /// - Parameter parent: the caller's decision; nil if the caller sent no trace.
  public func samples(_ traceID: TraceID, parent: SamplingState?) -> Bool {
    inherited(parent) ?? samples(traceID)
  }

  /// The caller's decision, if the sampler follows it.
  func inherited(_ parent: SamplingState?) -> Bool? {
    guard isParentBased else { return nil }
    switch parent {
    case .accepted, .debug: return true
    case .denied: return false
    case .deferred, nil: return nil
    }
  }

  /// The sampler's own decision about a trace, independent of the caller's.
  func samples(_ traceID: TraceID) -> Bool { Self.value(traceID) < bound }

  /// Whether the sampler's own decision is always to sample.
  var samplesAll: Bool { bound == Self.values }

  /// The part of a trace id that is compared with the bound: 63 bits, as in `TraceIdRatioBased` of the OpenTelemetry
  /// SDKs for Go and Rust. The SDKs for Python, Ruby, Swift and Perl use all 64 bits of the lower half; the results
  /// differ only in the rounding of ratios below 2^-10.
  private static func value(_ traceID: TraceID) -> UInt64 { traceID.low >> 1 }

  /// The product is rounded down, as the SDKs do.
  private static func bound(_ ratio: Double) -> UInt64 {
    guard ratio > 0 else { return 0 }
    return ratio < 1 ? UInt64(ratio * Double(values)) : values
  }
}
