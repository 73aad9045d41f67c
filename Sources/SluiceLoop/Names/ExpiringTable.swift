import SluicePipeline
import SluiceSupport

/// Remembers something about names for a limited time, and about a limited number of them. It has no timer: what has
/// expired is removed when something is added.
struct ExpiringTable<Value> {
  private var entries: [String: (value: Value, until: Instant)] = [:]
  /// Every addition that has not expired, oldest first; counts against the limit.
  private var additions = FIFOQueue<(name: String, until: Instant)>()
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  func value(of name: String, at now: Instant) -> Value? {
    guard let entry = entries[name], now < entry.until else { return nil }
    return entry.value
  }

  /// Does nothing when the table is full.
  mutating func add(_ value: Value, for name: String, until: Instant, at now: Instant) {
    removeExpired(at: now)
    guard until > now, additions.count < limit else { return }
    entries[name] = (value, until)
    additions.append((name, until))
  }

  mutating func remove(_ name: String) { entries[name] = nil }

  private mutating func removeExpired(at now: Instant) {
    while let oldest = additions.first, oldest.until <= now {
      _ = additions.popFirst()
      // A later addition of the same name stays.
      if let entry = entries[oldest.name], entry.until <= now { entries[oldest.name] = nil }
    }
  }
}
