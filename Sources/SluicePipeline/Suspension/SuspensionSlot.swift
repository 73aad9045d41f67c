import Synchronization

/// One place of a suspension table.
///
/// `state` is generation × 4 + phase. Unchecked because of `transaction`: it is read and written on the loop's thread only,
/// which ``SuspensionTable`` upholds.
final class SuspensionSlot: @unchecked Sendable {
  enum Phase: UInt64 {
    case free = 0
    case suspended = 1
    case resumed = 2
    case expired = 3
  }

  let state = Atomic<UInt64>(0)
  let nonce = Atomic<UInt64>(0)
  var transaction: Transaction?

  static func word(_ generation: UInt32, _ phase: Phase) -> UInt64 { UInt64(generation) << 2 | phase.rawValue }

  /// Moves from suspended to another phase; only one caller gets true.
  func leaveSuspended(generation: UInt32, to phase: Phase) -> Bool {
    state.compareExchange(
      expected: Self.word(generation, .suspended), desired: Self.word(generation, phase),
      ordering: .acquiringAndReleasing
    ).exchanged
  }
}

/// A run of slots; made once and never moved, since any thread may look into it.
final class SuspensionChunk: Sendable {
  let slots: [SuspensionSlot]

  init(count: Int) { slots = (0..<count).map { _ in SuspensionSlot() } }
}
