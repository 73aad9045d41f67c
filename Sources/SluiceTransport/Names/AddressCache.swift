package import SluicePipeline

/// The addresses of one host, and when they have to be looked up again. Confined to its loop.
package struct AddressCache {
  /// Until this age, an answer is used without a new look-up.
  package static let freshness = Duration.seconds(60)
  /// Until this age, an answer is used while a new one is fetched, so that no request waits for a name that was known.
  package static let staleness = Duration.seconds(360)
  /// How long to wait before the next look-up when the last one failed; the old answer is used during that time.
  private static let retrying = Duration.seconds(1)

  package private(set) var addresses: [String] = []
  package var isLookingUp = false
  private var resolvedAt: Instant?
  private var refreshesAt = Instant(nanoseconds: 0)

  package init() {}

  /// Whether the addresses can be used without waiting for a look-up.
  package func isUsable(at now: Instant) -> Bool {
    guard let resolvedAt else { return false }
    return now.duration(since: resolvedAt) < Self.staleness
  }

  package func wantsRefresh(at now: Instant) -> Bool { !isLookingUp && resolvedAt != nil && now >= refreshesAt }

  /// Returns whether the addresses have changed.
  package mutating func didResolve(to addresses: [String], at now: Instant) -> Bool {
    resolvedAt = now
    refreshesAt = now + Self.freshness
    guard addresses != self.addresses else { return false }
    self.addresses = addresses
    return true
  }

  /// The known addresses stay in use. Without the pause, each request would cause a look-up while the resolver fails.
  package mutating func didNotResolve(at now: Instant) { refreshesAt = now + Self.retrying }

  /// The addresses did not work: the next request looks the name up again.
  package mutating func distrust() { resolvedAt = nil }
}
