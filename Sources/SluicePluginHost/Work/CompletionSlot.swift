import Synchronization

/// One place of a completion table. `state` is generation × 4 + phase.
///
/// Unchecked because of `work`: it is written before the slot opens, and taken by the one that closes it.
final class CompletionSlot: @unchecked Sendable {
  enum Phase: UInt64 {
    case free = 0
    case open = 1
    case completed = 2
    case expired = 3
  }

  let state = Atomic<UInt64>(0)
  let nonce = Atomic<UInt64>(0)
  var work: OpenWork?

  static func word(_ generation: UInt32, _ phase: Phase) -> UInt64 { UInt64(generation) << 2 | phase.rawValue }

  func isIn(_ phase: Phase, _ generation: UInt32) -> Bool {
    state.load(ordering: .acquiring) == Self.word(generation, phase)
  }

  /// Moves from open to another phase; only one caller gets the work.
  func close(_ generation: UInt32, to phase: Phase) -> OpenWork? {
    let isMine = state.compareExchange(
      expected: Self.word(generation, .open), desired: Self.word(generation, phase), ordering: .acquiringAndReleasing
    ).exchanged
    guard isMine else { return nil }
    defer { work = nil }
    return work
  }
}

/// A run of slots; made once and never moved, since any thread may look into it.
final class CompletionChunk: Sendable {
  let slots: [CompletionSlot]

  init(count: Int) { slots = (0..<count).map { _ in CompletionSlot() } }
}
