import SluicePipeline
import SluiceSupport

/// Remembers a value for each of a limited number of names, for a limited time. It has no timer: an addition removes
/// the values that have expired.
struct ExpiringTable<Value> {
  private var entries: [String: (value: Value, until: Instant)] = [:]
  /// Every addition that has not expired, oldest first. The limit applies to their number.
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
      // If the name was added again later, its entry has a later time and stays until then.
      if let entry = entries[oldest.name], entry.until <= now { entries[oldest.name] = nil }
    }
  }
}
