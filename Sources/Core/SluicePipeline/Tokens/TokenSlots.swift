import Synchronization

/// The table of places that tokens refer to. One compare-and-swap on a place decides who ends its token.
///
///     free ── open ── ended by its holder ─► ended ────► free, in a later generation
///               └─── withdrawn by the host ─► expired ──┘
///
/// Places come in chunks, each twice as large as the one before, and never move, so that any thread can read them. The
/// owner keeps the list of free places, and one thread at a time grows the table.
package final class TokenSlots<Occupant>: Sendable {
  package static var maximumChunks: Int { 16 }

  private let chunks: InlineArray<16, AtomicLazyReference<TokenChunk<Occupant>>>
  private let chunkCount = Atomic(0)
  private let firstCount: Int
  private let chunkLimit: Int

  /// - Parameter firstCount: the size of the first chunk, a power of two.
  package init(firstCount: Int, chunkLimit: Int) {
    self.firstCount = firstCount
    self.chunkLimit = min(chunkLimit, Self.maximumChunks)
    chunks = InlineArray { _ in AtomicLazyReference<TokenChunk<Occupant>>() }
  }

  /// The number of places.
  package var count: Int { firstCount * ((1 << chunkCount.load(ordering: .relaxed)) - 1) }

  package var canGrow: Bool { chunkCount.load(ordering: .relaxed) < chunkLimit }

  /// Adds a chunk and returns the indexes of its places; nil if the table has its maximum size.
  package func grow() -> Range<UInt32>? {
    guard canGrow else { return nil }
    let chunk = chunkCount.load(ordering: .relaxed)
    let (first, added) = (UInt32(count), firstCount << chunk)
    _ = chunks[chunk].storeIfNil(TokenChunk(count: added))
    chunkCount.store(chunk + 1, ordering: .relaxed)
    return first..<first + UInt32(added)
  }

  /// The place at an index; nil if the table does not have it.
  package subscript(index: UInt32) -> TokenSlot<Occupant>? {
    let shifted = Int(index) + firstCount
    let chunk = (Int.bitWidth - 1 - shifted.leadingZeroBitCount) - firstCount.trailingZeroBitCount
    guard chunk < Self.maximumChunks, let slots = chunks[chunk].load()?.slots else { return nil }
    return slots[shifted - firstCount << chunk]
  }

  /// The place that a token refers to; nil if the nonce shows that the token belongs to another table.
  package subscript(index: UInt32, nonce: UInt64) -> TokenSlot<Occupant>? {
    guard let slot = self[index], slot.nonce.load(ordering: .relaxed) == nonce else { return nil }
    return slot
  }
}

/// One place. `state` is generation × 4 + phase.
///
/// Unchecked because of `occupant`. It is written before the slot opens, and only the caller that ends the token takes
/// it.
package final class TokenSlot<Occupant>: @unchecked Sendable {
  package enum Phase: UInt64 {
    case free = 0
    case open = 1
    case ended = 2
    case expired = 3
  }

  private let state = Atomic<UInt64>(0)
  fileprivate let nonce = Atomic<UInt64>(0)
  package var occupant: Occupant?

  private static func word(_ generation: UInt32, _ phase: Phase) -> UInt64 { UInt64(generation) << 2 | phase.rawValue }

  /// The generation of the token that refers to the place now, or referred to it last.
  package var generation: UInt32 { UInt32(truncatingIfNeeded: state.load(ordering: .acquiring) >> 2) }

  /// Opens a free place for a token.
  package func open(_ generation: UInt32, _ nonce: UInt64, for occupant: Occupant) {
    self.occupant = occupant
    self.nonce.store(nonce, ordering: .relaxed)
    state.store(Self.word(generation, .open), ordering: .releasing)
  }

  package func isIn(_ phase: Phase, _ generation: UInt32) -> Bool {
    state.load(ordering: .acquiring) == Self.word(generation, phase)
  }

  /// Moves the place from the open phase to another phase. If several callers try this, only one of them gets true.
  package func leaveOpen(_ generation: UInt32, to phase: Phase) -> Bool {
    state.compareExchange(
      expected: Self.word(generation, .open), desired: Self.word(generation, phase), ordering: .acquiringAndReleasing
    ).exchanged
  }

  package func takeOccupant() -> Occupant? {
    defer { occupant = nil }
    return occupant
  }
}

/// A chunk of places that were created together.
private final class TokenChunk<Occupant>: Sendable {
  let slots: [TokenSlot<Occupant>]

  init(count: Int) { slots = (0..<count).map { _ in TokenSlot() } }
}
