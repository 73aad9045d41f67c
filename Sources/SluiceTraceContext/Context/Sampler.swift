/// Decides which traces are sampled. The decision depends on nothing but the trace id, so every hop, attempt and process comes
/// to the same one.
public struct Sampler: Sendable, Hashable {
  /// How many values ``value(_:)`` can have.
  private static let values: UInt64 = 1 << 63

  /// Whether a decision of the caller is taken over.
  public let isParentBased: Bool
  /// How many of the ``values`` are sampled: the lower ones.
  private let bound: UInt64

  /// `parentbased_always_on`, the default of OpenTelemetry.
  public init() { self.init(.parentBasedAlwaysOn) }

  /// - Parameter ratio: the share of the traces, for the two kinds that take one. At most 0, or NaN, samples none, and at
  ///   least 1 all.
  public init(_ kind: Kind, ratio: Double = 1) {
    isParentBased = kind.isParentBased
    bound =
      switch kind {
      case .alwaysOn, .parentBasedAlwaysOn: Self.values
      case .alwaysOff, .parentBasedAlwaysOff: 0
      case .traceIDRatio, .parentBasedTraceIDRatio: Self.bound(ratio)
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

    /// Whether a decision of the caller, where there is one, is taken over.
    public var isParentBased: Bool {
      self == .parentBasedAlwaysOn || self == .parentBasedAlwaysOff || self == .parentBasedTraceIDRatio
    }
    /// Whether the ratio counts; the other kinds ignore it.
    public var takesRatio: Bool { self == .traceIDRatio || self == .parentBasedTraceIDRatio }
  }

  /// - Parameter parent: the caller's decision; nil without one.
  public func samples(_ traceID: TraceID, parent: SamplingState?) -> Bool {
    inherited(parent) ?? samples(traceID)
  }

  /// The caller's decision, where it is taken over.
  func inherited(_ parent: SamplingState?) -> Bool? {
    guard isParentBased else { return nil }
    switch parent {
    case .accepted, .debug: return true
    case .denied: return false
    case .deferred, nil: return nil
    }
  }

  /// What this sampler decides by itself.
  func samples(_ traceID: TraceID) -> Bool { Self.value(traceID) < bound }

  /// Whether it samples every trace about which it decides by itself.
  var samplesAll: Bool { bound == Self.values }

  /// What `TraceIdRatioBased` of the OpenTelemetry SDKs for Go and Rust compares. Those for Python, Ruby, Swift and Perl take
  /// all 64 bits of the lower half, which is the same but for the rounding of ratios below 2^-10.
  private static func value(_ traceID: TraceID) -> UInt64 { traceID.low >> 1 }

  /// Rounded down, as the SDKs do.
  private static func bound(_ ratio: Double) -> UInt64 {
    guard ratio > 0 else { return 0 }
    return ratio < 1 ? UInt64(ratio * Double(values)) : values
  }
}
