package import SluicePipeline

/// Limits the frames that cost this side time without being a part of a message: settings, pings, resets, priorities,
/// empty data, updates of windows, unknown frames, and frames for streams that have ended.
///
/// Such a frame takes units from a budget, by its size. The budget is refilled by time, by frames of responses, and by
/// data that is sent, because the peer answers such data with updates of windows.
///
/// A guard against the peer must not count what this side has caused. If this side resets a stream, the peer may have
/// sent, or be sending, the rest of its message. So frames of ended streams are free up to the windows that this side
/// had granted (RFC 9113 §5.1, §6.9), and up to the limit for a head.
package struct HTTP2FloodGuard {
  private static let budget = 10_000
  /// The units of the budget that are refilled in a second.
  private static let perSecond = 2_000
  /// The units of the budget that a useful frame refills.
  private static let perUsefulFrame = 16
  /// A frame takes one unit, and one more for each of this number of bytes.
  private static let bytesPerUnit = 32
  /// The units that it takes when the peer gives up a stream whose response is not complete. A request costs much more
  /// than a frame, so the budget allows 500 such streams at once, and then 100 in a second.
  private static let unitsPerAbort = 20
  /// How long a peer may take until it has noticed that a stream was reset.
  private static let graceNanoseconds: UInt64 = 30_000_000_000

  private var left = Self.budget
  private var refilledAt: Instant
  /// The bytes that the peer may still send on ended streams, for resets since `renewedAt`.
  private var granted = 0
  /// The same for resets of the period before that.
  private var grantedBefore = 0
  private var renewedAt: Instant

  package init(at now: Instant) {
    refilledAt = now
    renewedAt = now
  }

  package var isExceeded: Bool { left < 0 }

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
  package mutating func noteRead(at now: Instant) {
    renew(at: now)
    guard left < Self.budget / 2 else { return }
    let seconds = Int(clamping: now.nanoseconds(since: refilledAt) / 1_000_000_000)
    guard seconds > 0 else { return }
    refilledAt = now
    left = min(Self.budget, left + min(seconds, Self.budget) * Self.perSecond)
  }

  /// Notes that a part of a response has arrived, or that a part of a message was sent.
  package mutating func noteUseful() { left = min(Self.budget, left + Self.perUsefulFrame) }

  /// Notes that the peer has given up a stream whose response is not complete.
  package mutating func noteAbort() { left -= Self.unitsPerAbort }

  /// Notes a frame that carries no part of a message.
  package mutating func noteUseless(byteCount: Int) { left -= 1 + byteCount / Self.bytesPerUnit }

  /// Notes a frame with data or fields on a stream that has ended.
  package mutating func noteLate(byteCount: Int) {
    let free = min(byteCount, granted + grantedBefore)
    let older = min(free, grantedBefore)
    grantedBefore -= older
    granted -= free - older
    if free == 0 || free < byteCount { noteUseless(byteCount: byteCount - free) }
  }

  /// Notes that this side has reset a stream.
  ///
  /// - Parameters:
  ///   - windowBytes: the number of bytes that the peer was allowed to send on the stream.
  ///   - headBytes: the maximum size of the fields that can follow.
  package mutating func noteReset(windowBytes: Int, headBytes: Int, at now: Instant) {
    renew(at: now)
    granted += windowBytes + headBytes
    noteUseful()
  }
}
