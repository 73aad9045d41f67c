import Synchronization

/// The slots of one loop's running transactions, readable from other threads.
///
/// Only the loop takes slots from the table. It keeps each slot in the ``TransactionSeat`` of a transaction. Unchecked
/// because of the free list, which only the loop's thread touches.
final class AnswerTable: @unchecked Sendable {
  private static let firstChunkCount = 64
  /// The first chunk has 64 slots, and each further chunk has twice as many as the one before: about four million slots
  /// in total.
  private static let chunkLimit = 16

  private let chunks: InlineArray<16, AtomicLazyReference<AnswerChunk>>
  private var free: [AnswerSlot] = []
  private var chunkCount = 0

  init() { chunks = InlineArray { _ in AtomicLazyReference<AnswerChunk>() } }

  /// Returns a slot for a transaction that begins. When the table is full, the returned slot is not in it, so other
  /// threads cannot see the slot. [loop]
  func vacantSlot() -> AnswerSlot {
    if let slot = free.popLast() { return slot }
    guard chunkCount < Self.chunkLimit else { return AnswerSlot() }
    let chunk = chunks[chunkCount].storeIfNil(AnswerChunk(count: Self.firstChunkCount << chunkCount))
    chunkCount += 1
    free.append(contentsOf: chunk.slots.dropFirst())
    return chunk.slots[0]
  }

  /// Whether a transaction has no result yet, as far as another thread can tell. [any]
  var owesResults: Bool {
    for index in 0..<Self.chunkLimit {
      guard let chunk = chunks[index].load() else { return false }
      if chunk.slots.contains(where: \.isOpen) { return true }
    }
    return false
  }

  /// Takes the transactions whose deadline has passed and those that were cancelled; takes all transactions if `now` is
  /// nil. [any]
  func take(dueAt now: Instant?) -> [(transaction: Transaction, isCancelled: Bool)] {
    var taken: [(transaction: Transaction, isCancelled: Bool)] = []
    for index in 0..<Self.chunkLimit {
      guard let chunk = chunks[index].load() else { break }
      taken += chunk.slots.compactMap { $0.take(dueAt: now) }
    }
    return taken
  }
}
