import Synchronization

/// Decides who gives a running transaction its result: its loop, or another thread if a stage on the loop does not
/// return.
///
///     free ─ open ─► open ──────── close ──► free      the loop: it completes the transaction
///                     │ cancel      │ take
///                     ▼             ▼
///                  cancelled ─────► taken              any thread: the loop's own result is dropped
///
/// One compare-and-swap decides. `state` is a serial number × 4 + phase, so that no thread touches a later transaction
/// in the slot. Unchecked because of `transaction`: the loop writes it, and the thread that has taken the slot reads
/// it. A taken slot is never used again, so neither thread waits for the other.
final class AnswerSlot: @unchecked Sendable {
  private enum Phase: UInt64 {
    case free = 0
    case open = 1
    /// The caller has cancelled the transaction.
    case cancelled = 2
    case taken = 3
  }

  private let state = Atomic<UInt64>(0)
  private let deadline = Atomic<UInt64>(.max)
  private var transaction: Transaction?

  /// Called when the transaction begins. Returns the serial number that identifies the transaction in this slot. [loop]
  func open(for transaction: Transaction, until deadline: Instant) -> UInt64 {
    let serial = (state.load(ordering: .relaxed) >> 2) &+ 1
    self.transaction = transaction
    self.deadline.store(deadline.nanoseconds, ordering: .relaxed)
    state.store(Self.word(serial, .open), ordering: .releasing)
    return serial
  }

  /// Called when the transaction ends. Returns false when another thread has given the result; then the slot must not
  /// be used again. [loop]
  func close(_ serial: UInt64) -> Bool {
    guard move(serial, from: .open, to: .free) || move(serial, from: .cancelled, to: .free) else { return false }
    transaction = nil
    return true
  }

  /// Marks the transaction as cancelled, so that another thread can give its result. [any]
  func cancel(_ serial: UInt64) { _ = move(serial, from: .open, to: .cancelled) }

  /// Whether another thread has taken the slot. Any thread may read this while the transaction runs.
  var isTaken: Bool { state.load(ordering: .relaxed) & 3 == Phase.taken.rawValue }

  /// Whether the transaction has no result yet.
  var isOpen: Bool {
    let phase = state.load(ordering: .acquiring) & 3
    return phase == Phase.open.rawValue || phase == Phase.cancelled.rawValue
  }

  /// Takes the right to give the result, if the deadline has passed or the caller has cancelled. Returns nil if the
  /// loop was faster, or if no transaction is running in the slot. [any]
  /// - Parameter now: nil takes the right regardless of the deadline.
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

/// A chunk of slots. It is created once and never moved, because any thread may read it.
final class AnswerChunk: Sendable {
  let slots: [AnswerSlot]

  init(count: Int) { slots = (0..<count).map { _ in AnswerSlot() } }
}
