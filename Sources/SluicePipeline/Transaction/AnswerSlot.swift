import Synchronization

/// Who gives a running transaction its result: its loop, or somebody else where that loop does not come back from a stage.
///
///     free ─ open ─► open ──────── close ──► free      the loop: it completes the transaction
///                     │ cancel      │ take
///                     ▼             ▼
///                  cancelled ─────► taken              anybody: the loop's own result is swallowed
///
/// One compare-and-swap decides. `state` is a serial number × 4 + phase, so that nobody touches a later transaction of the
/// slot. Unchecked because of `transaction`: it is written by the loop, and read by whoever has taken the slot. A taken slot
/// is never used again, so that neither waits for the other.
final class AnswerSlot: @unchecked Sendable {
  private enum Phase: UInt64 {
    case free = 0
    case open = 1
    /// The caller wants no result any more.
    case cancelled = 2
    case taken = 3
  }

  private let state = Atomic<UInt64>(0)
  private let deadline = Atomic<UInt64>(.max)
  private var transaction: Transaction?

  /// The transaction begins. Gives the number by which it is known here. [loop]
  func open(for transaction: Transaction, until deadline: Instant) -> UInt64 {
    let serial = (state.load(ordering: .relaxed) >> 2) &+ 1
    self.transaction = transaction
    self.deadline.store(deadline.nanoseconds, ordering: .relaxed)
    state.store(Self.word(serial, .open), ordering: .releasing)
    return serial
  }

  /// The transaction ends. False where somebody else has given the result; then the slot is not to be used again. [loop]
  func close(_ serial: UInt64) -> Bool {
    guard move(serial, from: .open, to: .free) || move(serial, from: .cancelled, to: .free) else { return false }
    transaction = nil
    return true
  }

  /// Has the transaction count as due. [any]
  func cancel(_ serial: UInt64) { _ = move(serial, from: .open, to: .cancelled) }

  /// From any thread, while the transaction runs.
  var isTaken: Bool { state.load(ordering: .relaxed) & 3 == Phase.taken.rawValue }

  /// Whether the result is still to be given.
  var isOpen: Bool {
    let phase = state.load(ordering: .acquiring) & 3
    return phase == Phase.open.rawValue || phase == Phase.cancelled.rawValue
  }

  /// Takes the right to give the result, where the deadline has passed or the caller has cancelled. Nil where the loop was
  /// faster, or nothing runs. [any]
  /// - Parameter now: nil takes it whatever its deadline is.
  func take(dueAt now: Instant?) -> (transaction: Transaction, isCancelled: Bool)? {
    let seen = state.load(ordering: .acquiring)
    let serial = seen >> 2
    if seen == Self.word(serial, .cancelled), move(serial, from: .cancelled, to: .taken) {
      return transaction.take().map { ($0, true) }
    }
    guard seen == Self.word(serial, .open) else { return nil }
    if let now, deadline.load(ordering: .relaxed) > now.nanoseconds { return nil }
    guard move(serial, from: .open, to: .taken) else { return nil }
    return transaction.take().map { ($0, false) }
  }

  private func move(_ serial: UInt64, from phase: Phase, to next: Phase) -> Bool {
    state.compareExchange(
      expected: Self.word(serial, phase), desired: Self.word(serial, next), ordering: .acquiringAndReleasing
    ).exchanged
  }

  private static func word(_ serial: UInt64, _ phase: Phase) -> UInt64 { serial << 2 | phase.rawValue }
}

/// A run of slots; made once and never moved, since any thread may look into it.
final class AnswerChunk: Sendable {
  let slots: [AnswerSlot]

  init(count: Int) { slots = (0..<count).map { _ in AnswerSlot() } }
}
