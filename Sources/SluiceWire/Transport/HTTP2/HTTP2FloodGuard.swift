import SluicePipeline

/// Bounds the frames that cost this side time without moving an exchange on: settings, pings, resets, priorities, empty
/// data, updates of windows, frames for streams that have ended, and unknown frames.
///
/// Each such frame costs one from a budget. Time refills it, and so do the frames of responses, and the data of
/// requests, for which a server updates windows. nghttp2 does not report unknown frames, so these are bounded by their
/// bytes.
struct HTTP2FloodGuard {
  static let reason = "the server sent a flood of frames that carry no part of a response"

  private static let budget = 10_000
  /// How much of the budget comes back in a second.
  private static let perSecond = 2_000
  /// How much of the budget a useful frame gives back.
  private static let perUsefulFrame = 16
  private static let unknownBytes = 262_144
  /// How many bytes of unknown frames are forgotten in a second, and for each useful frame.
  private static let bytesPerSecond = 65_536
  private static let bytesPerUsefulFrame = 64

  private var left = Self.budget
  /// Received bytes that belong to no reported frame so far.
  private var unreportedBytes = 0
  private var refilledAt: Instant

  init(at now: Instant) { refilledAt = now }

  var isExceeded: Bool { left < 0 || unreportedBytes > Self.unknownBytes }

  /// Bytes have come; the frames among them are reported next.
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

  /// A frame is reported.
  ///
  /// - Parameter byteCount: the size including the frame's head; a part of the frame may still be missing.
  mutating func noteFrame(_ byteCount: Int, isUseful: Bool) {
    unreportedBytes -= byteCount
    if isUseful { noteUseful() } else { left -= 1 }
  }

  /// A part of a response has come, or a part of a request was sent.
  mutating func noteUseful() {
    if unreportedBytes > 0 { unreportedBytes = max(0, unreportedBytes - Self.bytesPerUsefulFrame) }
    left = min(Self.budget, left + Self.perUsefulFrame)
  }
}
