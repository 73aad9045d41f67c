import SluicePipeline

/// Bounds the frames that cost this side time without moving a response on: settings, pings, resets, priorities, empty
/// data and unknown frames.
///
/// Each such frame costs one from a budget. Time refills it, and so do frames that a server needs to answer requests.
struct HTTP2FloodGuard {
  static let reason = "more than \(budget) frames came that carry no part of a response"

  private static let budget = 10_000
  /// How much of the budget comes back in a second.
  private static let perSecond = 2_000
  /// How much of the budget a useful frame gives back.
  private static let perUsefulFrame = 16

  private var left = Self.budget
  private var refilledAt = Instant(nanoseconds: 0)

  var isExceeded: Bool { left < 0 }

  mutating func noteUseful() { left = min(Self.budget, left + Self.perUsefulFrame) }

  mutating func noteOther(at now: Instant) {
    left -= 1
    guard left < Self.budget / 2, left >= 0 else { return }
    let seconds = now.nanoseconds(since: refilledAt) / 1_000_000_000
    guard seconds > 0 else { return }
    refilledAt = now
    left = min(Self.budget, left + Int(clamping: seconds) &* Self.perSecond)
  }
}
