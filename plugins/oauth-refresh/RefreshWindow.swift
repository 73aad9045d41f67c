/// Limits the number of refreshes within a time, so that a server that refuses every token does not cause endless
/// refreshes.
struct RefreshWindow: Sendable {
  let limit: Int
  let duration: Duration
  private var starts: [ContinuousClock.Instant] = []

  init(limit: Int, duration: Duration) {
    self.limit = limit
    self.duration = duration
  }

  /// Counts one more refresh; returns false if the window is full.
  mutating func admit(at now: ContinuousClock.Instant) -> Bool {
    starts.removeAll { $0.duration(to: now) >= duration }
    guard starts.count < limit else { return false }
    starts.append(now)
    return true
  }
}
