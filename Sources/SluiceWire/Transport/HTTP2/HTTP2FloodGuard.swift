import SluicePipeline

/// Limits the frames that cost this side time without being a part of a response: settings, pings, resets, priorities,
/// empty data, updates of windows, frames for streams that have ended, and unknown frames.
///
/// Each of these frames takes one unit from a budget. The budget is refilled by time, by frames of responses, and by
/// request data that is sent, because the server answers such data with updates of windows. nghttp2 does not report
/// unknown frames, so these are limited by their bytes.
struct HTTP2FloodGuard {
  static let reason = "the server sent a flood of frames that carry no part of a response"

  private static let budget = 10_000
  /// The units of the budget that are refilled in a second.
  private static let perSecond = 2_000
  /// The units of the budget that a useful frame refills.
  private static let perUsefulFrame = 16
  private static let unknownBytes = 262_144
  /// How many bytes of unknown frames are forgiven per second. The next constant is the number for each useful frame.
  private static let bytesPerSecond = 65_536
  private static let bytesPerUsefulFrame = 64

  private var left = Self.budget
  /// The number of received bytes for which nghttp2 has not reported a frame yet.
  private var unreportedBytes = 0
  private var refilledAt: Instant

  init(at now: Instant) { refilledAt = now }

  var isExceeded: Bool { left < 0 || unreportedBytes > Self.unknownBytes }

  /// Notes that bytes have arrived. The frames in these bytes are reported afterwards.
  mutating func noteBytes(_ count: Int, at now: Instant) {
    unreportedBytes += count
    guard left < Self.budget / 2 || unreportedBytes > Self.unknownBytes / 2 else { return }
    let seconds = Int(clamping: now.nanoseconds(since: refilledAt) / 1_000_000_000)
    guard seconds > 0 else { return }
    refilledAt = now
    left = min(Self.budget, left + min(seconds, Self.budget) * Self.perSecond)
    unreportedBytes -= min(seconds, Self.budget) * Self.bytesPerSecond
    unreportedBytes = max(unreportedBytes, 0)
  }

  /// Notes a frame that nghttp2 reports.
  ///
  /// - Parameter byteCount: the size including the frame's head. Not all of these bytes may have arrived yet.
  mutating func noteFrame(_ byteCount: Int, isUseful: Bool) {
    unreportedBytes -= byteCount
    if isUseful { noteUseful() } else { left -= 1 }
  }

  /// Notes that a part of a response has arrived, or that a part of a request was sent.
  mutating func noteUseful() {
    if unreportedBytes > 0 { unreportedBytes = max(0, unreportedBytes - Self.bytesPerUsefulFrame) }
    left = min(Self.budget, left + Self.perUsefulFrame)
  }
}
