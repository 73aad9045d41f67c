import CSluice

/// What a host has to offer to a plugin: preflight compares a plugin's note with it.
public struct HostOffer: Sendable, Hashable {
  /// The ABI revisions that the host speaks.
  public var abi: ClosedRange<UInt32>
  public var features: HostFeatures
  /// What a library is allowed to do although it weakens the process.
  public var allowed: Set<LibraryHazard>

  public init(
    abi: ClosedRange<UInt32> = Self.abi, features: HostFeatures = .offered, allowed: Set<LibraryHazard> = []
  ) {
    self.abi = abi
    self.features = features
    self.allowed = allowed
  }

  /// The same offer, for a library to which the configuration allows these hazards.
  package func allowing(_ allowed: Set<LibraryHazard>) -> HostOffer {
    HostOffer(abi: abi, features: features, allowed: self.allowed.union(allowed))
  }

  public static let abi = UInt32(1)...UInt32(SLUICE_ABI_VERSION)
}

/// The `SLUICE_FEATURE_…` bits of `host.h`.
public struct HostFeatures: OptionSet, Hashable, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  private static let words: [(bit: Int, word: String)] = [
    (Int(SLUICE_FEATURE_SUSPEND), "suspend"), (Int(SLUICE_FEATURE_RESPOND), "respond"),
    (Int(SLUICE_FEATURE_RETRY), "retry"), (Int(SLUICE_FEATURE_REQUEST_BODY), "request bodies"),
    (Int(SLUICE_FEATURE_RESPONSE_BODY), "response bodies"), (Int(SLUICE_FEATURE_STREAMED_BODY), "streamed bodies"),
    (Int(SLUICE_FEATURE_TIMERS), "timers"), (Int(SLUICE_FEATURE_CALLOUT), "call-outs"),
    (Int(SLUICE_FEATURE_METRICS), "metrics"), (Int(SLUICE_FEATURE_VALUES), "values"),
    (Int(SLUICE_FEATURE_HOPS), "hops"), (Int(SLUICE_FEATURE_REWRITE), "rewriting of method and URL"),
    (Int(SLUICE_FEATURE_RESPONSE), "responses"), (Int(SLUICE_FEATURE_DOCUMENT), "JSON documents"),
    (Int(SLUICE_FEATURE_NOTIFICATIONS), "notifications"),
  ]

  /// Every feature that these headers know.
  public static let all = words.reduce(into: HostFeatures()) { $0.formUnion(Self(rawValue: UInt32($1.bit))) }

  /// Each bit in words; one from newer headers by its number.
  public var names: [String] {
    (0..<32).compactMap { position in
      let bit = UInt32(1) << position
      guard rawValue & bit != 0 else { return nil }
      return Self.words.first { $0.bit == Int(bit) }?.word ?? "feature \(bit) of a newer host"
    }
  }
}
