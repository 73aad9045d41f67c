import SluicePipeline

/// The addresses of one host, and when they have to be looked up again. It is used only on its loop.
struct AddressCache {
  /// Until this age, an answer is used without a new look-up.
  static let freshness = Duration.seconds(60)
  /// Until this age, an old answer is used while a new one is fetched, so that no request waits for a look-up of a
  /// known name.
  static let staleness = Duration.seconds(360)
  /// How long to wait before the next look-up when the last one failed; the old answer is used during that time.
  private static let retrying = Duration.seconds(1)

  private(set) var addresses: [String] = []
  var isLookingUp = false
  private var resolvedAt: Instant?
  private var refreshesAt = Instant(nanoseconds: 0)

  /// Whether the addresses can be used without waiting for a look-up.
  func isUsable(at now: Instant) -> Bool {
    guard let resolvedAt else { return false }
    return now.duration(since: resolvedAt) < Self.staleness
  }

  func wantsRefresh(at now: Instant) -> Bool { !isLookingUp && resolvedAt != nil && now >= refreshesAt }

  /// Stores the addresses that a look-up has found.
  mutating func didResolve(to addresses: [String], at now: Instant) {
    resolvedAt = now
    refreshesAt = now + Self.freshness
    self.addresses = addresses
  }

  /// Notes a failed look-up. The known addresses stay in use. The next look-up must wait, because otherwise each
  /// request would cause one while the resolver fails.
  mutating func didNotResolve(at now: Instant) { refreshesAt = now + Self.retrying }

  /// Notes that connections to the addresses failed. The next request looks the name up again.
  mutating func distrust() { resolvedAt = nil }
}
