import Synchronization

/// The slots of one loop's running transactions, for a look from outside.
///
/// Taking slots and giving them back is the loop's. Unchecked because of the free list, which only the loop's thread
/// touches.
final class AnswerTable: @unchecked Sendable {
  private static let firstChunkCount = 64
  /// 64 slots, then twice as many with each further chunk: some four million.
  private static let chunkLimit = 16

  private let chunks: InlineArray<16, AtomicLazyReference<AnswerChunk>>
  private var free: [AnswerSlot] = []
  private var chunkCount = 0

  init() { chunks = InlineArray { _ in AtomicLazyReference<AnswerChunk>() } }

  /// A slot for a transaction that begins. Beyond what the table holds it is one that nobody sees from outside. [loop]
  func vacantSlot() -> AnswerSlot {
    if let slot = free.popLast() { return slot }
    guard chunkCount < Self.chunkLimit else { return AnswerSlot() }
    let chunk = chunks[chunkCount].storeIfNil(AnswerChunk(count: Self.firstChunkCount << chunkCount))
    chunkCount += 1
    free.append(contentsOf: chunk.slots.dropFirst())
    return chunk.slots[0]
  }

  /// A slot that was closed. [loop]
  func giveBack(_ slot: AnswerSlot) { free.append(slot) }

  /// Whether a transaction has no result yet, as far as this can be known from another thread. [any]
  var owesResults: Bool {
    for index in 0..<Self.chunkLimit {
      guard let chunk = chunks[index].load() else { return false }
      if chunk.slots.contains(where: \.isOpen) { return true }
    }
    return false
  }

  /// Takes the transactions whose deadline has passed and those that were cancelled, or all. [any]
  func take(dueAt now: Instant?) -> [(transaction: Transaction, isCancelled: Bool)] {
    var taken: [(transaction: Transaction, isCancelled: Bool)] = []
    for index in 0..<Self.chunkLimit {
      guard let chunk = chunks[index].load() else { break }
      taken += chunk.slots.compactMap { $0.take(dueAt: now) }
    }
    return taken
  }
}
