package import SluicePipeline

/// The addresses of one host, and when they have to be looked up again. It is used only on its loop.
package struct AddressCache {
  /// Until this age, an answer is used without a new look-up.
  package static let freshness = Duration.seconds(60)
  /// Until this age, an old answer is used while a new one is fetched, so that no request waits for a look-up of a
  /// known name.
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

  /// Stores the addresses that a look-up has found. Returns whether they differ from the previous ones.
  package mutating func didResolve(to addresses: [String], at now: Instant) -> Bool {
    resolvedAt = now
    refreshesAt = now + Self.freshness
    guard addresses != self.addresses else { return false }
    self.addresses = addresses
    return true
  }

  /// Notes a failed look-up. The known addresses stay in use. The next look-up must wait, because otherwise each
  /// request would cause one while the resolver fails.
  package mutating func didNotResolve(at now: Instant) { refreshesAt = now + Self.retrying }

  /// Notes that connections to the addresses failed. The next request looks the name up again.
  package mutating func distrust() { resolvedAt = nil }
}
