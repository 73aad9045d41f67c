import SluicePipeline

/// Bounds the frames that cost this side time without moving a response on: settings, pings, resets, priorities, empty
/// data and unknown frames.
///
/// Each such frame costs one from a budget. Time refills it, and so do frames that a server needs to answer requests.
/// Unknown frames, which nghttp2 does not report, are bounded by the bytes that come between two useful frames.
struct HTTP2FloodGuard {
  static let reason = "a flood of frames came that carry no part of a response"

  private static let budget = 10_000
  /// How much of the budget comes back in a second.
  private static let perSecond = 2_000
  /// How much of the budget a useful frame gives back.
  private static let perUsefulFrame = 16

  /// The bytes between two useful frames.
  private static let quietBytes = 262_144

  private var left = Self.budget
  private var refilledAt: Instant?
  private var bytesSinceUseful = 0

  var isExceeded: Bool { left < 0 || bytesSinceUseful > Self.quietBytes }

  mutating func noteBytes(_ count: Int) { bytesSinceUseful += count }

  mutating func noteUseful() {
    bytesSinceUseful = 0
    left = min(Self.budget, left + Self.perUsefulFrame)
  }

  mutating func noteOther(at now: Instant) {
    left -= 1
    guard left < Self.budget / 2, left >= 0 else { return }
    let since = refilledAt ?? now
    let seconds = now.nanoseconds(since: since) / 1_000_000_000
    if refilledAt == nil || seconds > 0 { refilledAt = now }
    left = min(Self.budget, left + Int(clamping: seconds) &* Self.perSecond)
  }
}
