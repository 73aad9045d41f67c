import SluicePipeline

/// Limits the frames that cost this side time without being a part of a response: settings, pings, resets, priorities,
/// empty data, updates of windows, unknown frames, and frames for streams that have ended.
///
/// Such a frame takes units from a budget, by its size. The budget is refilled by time, by frames of responses, and by
/// request data that is sent, because the server answers such data with updates of windows.
///
/// A guard against the server must not count what this side has caused. If this side resets a stream, the server may
/// have sent, or be sending, the rest of the response. So frames of ended streams are free up to the windows that this
/// side had granted (RFC 9113 §5.1, §6.9), and up to the limit for a head.
struct HTTP2FloodGuard {
  static let reason = "the server sent a flood of frames that carry no part of a response"

  private static let budget = 10_000
  /// The units of the budget that are refilled in a second.
  private static let perSecond = 2_000
  /// The units of the budget that a useful frame refills.
  private static let perUsefulFrame = 16
  /// A frame takes one unit, and one more for each of this number of bytes.
  private static let bytesPerUnit = 32
  /// How long a server may take until it has noticed that a stream was reset.
  private static let graceNanoseconds: UInt64 = 30_000_000_000

  private var left = Self.budget
  private var refilledAt: Instant
  /// The bytes that the server may still send on ended streams, for resets since `renewedAt`.
  private var granted = 0
  /// The same for resets of the period before that.
  private var grantedBefore = 0
  private var renewedAt: Instant

  init(at now: Instant) {
    refilledAt = now
    renewedAt = now
  }

  var isExceeded: Bool { left < 0 }

  /// Lets older allowances end.
  private mutating func renew(at now: Instant) {
    let age = now.nanoseconds(since: renewedAt)
    if age >= Self.graceNanoseconds {
      grantedBefore = age >= 2 * Self.graceNanoseconds ? 0 : granted
      granted = 0
      renewedAt = now
    }
  }

  /// Notes that frames have arrived. They are noted one by one afterwards.
  mutating func noteRead(at now: Instant) {
    renew(at: now)
    guard left < Self.budget / 2 else { return }
    let seconds = Int(clamping: now.nanoseconds(since: refilledAt) / 1_000_000_000)
    guard seconds > 0 else { return }
    refilledAt = now
    left = min(Self.budget, left + min(seconds, Self.budget) * Self.perSecond)
  }

  /// Notes that a part of a response has arrived, or that a part of a request was sent.
  mutating func noteUseful() { left = min(Self.budget, left + Self.perUsefulFrame) }

  /// Notes a frame that carries no part of a response.
  mutating func noteUseless(byteCount: Int) { left -= 1 + byteCount / Self.bytesPerUnit }

  /// Notes a frame with data or fields on a stream that has ended.
  mutating func noteLate(byteCount: Int) {
    let free = min(byteCount, granted + grantedBefore)
    let older = min(free, grantedBefore)
    grantedBefore -= older
    granted -= free - older
    if free == 0 || free < byteCount { noteUseless(byteCount: byteCount - free) }
  }

  /// Notes that this side has reset a stream.
  ///
  /// - Parameters:
  ///   - windowBytes: the number of bytes that the server was allowed to send on the stream.
  ///   - headBytes: the maximum size of the fields that can follow.
  mutating func noteReset(windowBytes: Int, headBytes: Int, at now: Instant) {
    renew(at: now)
    granted += windowBytes + headBytes
    noteUseful()
  }
}
