import CSluice

/// What a host offers to a plugin. The preflight compares a plugin's note and requirements with it.
public struct HostOffer: Sendable, Hashable {
  /// The name of the host, for messages of refusals.
  public var host: String
  /// The ABI revisions that the host speaks.
  public var abi: ClosedRange<UInt32>
  /// A library that requires a feature outside this set is refused.
  public var features: HostFeatures
  /// The hazards that a library is allowed to have, although they weaken the process.
  public var allowed: Set<LibraryHazard>

  /// Describes a host; by default the engine itself, with every feature of this ABI and without any allowed hazard.
  public init(
    host: String = "sluice", abi: ClosedRange<UInt32> = Self.abi, features: HostFeatures = .offered,
    allowed: Set<LibraryHazard> = []
  ) {
    self.host = host
    self.abi = abi
    self.features = features
    self.allowed = allowed
  }

  /// Returns this offer, with these hazards allowed in addition.
  package func allowing(_ allowed: Set<LibraryHazard>) -> HostOffer {
    HostOffer(host: host, abi: abi, features: features, allowed: self.allowed.union(allowed))
  }

  /// The ABI revisions that this engine speaks: from 1 to the revision of its headers.
  public static let abi = UInt32(1)...UInt32(SLUICE_ABI_VERSION)
}

/// The `SLUICE_FEATURE_…` bits of `host.h`.
public struct HostFeatures: OptionSet, Hashable, Sendable {
  /// The bits as in `sluice_host.features`.
  public let rawValue: UInt32
  /// Makes a set from bits, and keeps bits that these headers do not know; ``names`` leaves them out.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  private static let features: [(bit: Int, name: String)] = [
    (Int(SLUICE_FEATURE_SUSPEND), "suspend"), (Int(SLUICE_FEATURE_RESPOND), "respond"),
    (Int(SLUICE_FEATURE_RETRY), "retry"), (Int(SLUICE_FEATURE_REQUEST_BODY), "request_body"),
    (Int(SLUICE_FEATURE_RESPONSE_BODY), "response_body"), (Int(SLUICE_FEATURE_STREAMED_BODY), "streamed_body"),
    (Int(SLUICE_FEATURE_TIMERS), "timers"), (Int(SLUICE_FEATURE_CALLOUT), "callout"),
    (Int(SLUICE_FEATURE_METRICS), "metrics"), (Int(SLUICE_FEATURE_VALUES), "values"),
    (Int(SLUICE_FEATURE_HOPS), "hops"), (Int(SLUICE_FEATURE_REWRITE), "rewrite"),
    (Int(SLUICE_FEATURE_RESPONSE), "response"), (Int(SLUICE_FEATURE_DOCUMENT), "document"),
    (Int(SLUICE_FEATURE_NOTIFICATIONS), "notifications"),
  ]

  /// Every feature that these headers know.
  public static let all = features.reduce(into: HostFeatures()) { $0.formUnion(Self(rawValue: UInt32($1.bit))) }

  /// Makes a set from names, and ignores names that these headers do not know.
  package init(named names: Set<String>) {
    let found = Self.features.filter { names.contains($0.name) }
    self = found.reduce(into: []) { $0.formUnion(Self(rawValue: UInt32($1.bit))) }
  }

  /// The names of the bits that these headers know, spelled as in `SLUICE_REQUIRES`.
  public var names: [String] {
    Self.features.filter { contains(Self(rawValue: UInt32($0.bit))) }.map(\.name)
  }
}
