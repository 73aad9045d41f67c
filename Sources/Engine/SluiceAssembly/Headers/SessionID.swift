import SluiceMessages
import SluicePipeline
import SluiceSupport
import Synchronization

/// The id by which servers group the requests of a program.
enum SessionID: Sendable {
  case fixed([UInt8])
  case rotating(RotatingSessionID)

  /// The id of this run of the program.
  static let ofProcess: String = {
    var generator = SystemRandomNumberGenerator()
    return TransactionID(using: &generator).description
  }()
}

/// A session id that is replaced by a new one when it has not been used for a certain time. Shared by the loops: using
/// a current id takes no lock.
final class RotatingSessionID: Sendable {
  private let idleNanoseconds: UInt64
  private let id: Atomic<WordPair>
  /// The time of the last use, on the clock that all loops share.
  private let lastUse = Atomic<UInt64>(0)
  /// The lock for a rotation. Its value counts the rotations, because the thread sanitizer would report a race for a
  /// value without size.
  private let rotation = Locked(0)

  init(idle: Duration) {
    idleNanoseconds = idle.nanoseconds
    id = Atomic(Self.newID())
  }

  /// Returns the id of the session at that time. The call counts as a use of the session.
  func use(at now: Instant) -> TransactionID {
    if isIdle(at: now) { rotate(at: now) } else { lastUse.max(now.nanoseconds, ordering: .relaxed) }
    let words = id.load(ordering: .acquiring)
    return TransactionID(randomHigh: UInt64(words.first), randomLow: UInt64(words.second))
  }

  private func isIdle(at now: Instant) -> Bool {
    let last = lastUse.load(ordering: .acquiring)
    return now.nanoseconds > last && now.nanoseconds - last >= idleNanoseconds
  }

  /// The new id is stored before the time of its use: a thread that sees the time also sees the id.
  private func rotate(at now: Instant) {
    rotation.withLock { count in
      guard isIdle(at: now) else { return }
      count += 1
      id.store(Self.newID(), ordering: .releasing)
      lastUse.max(now.nanoseconds, ordering: .releasing)
    }
  }

  private static func newID() -> WordPair {
    var generator = SystemRandomNumberGenerator()
    let id = TransactionID(using: &generator)
    return WordPair(first: UInt(id.high), second: UInt(id.low))
  }
}
