import Synchronization

/// The suspended calls of one loop.
///
/// Taking and releasing slots is the loop's; resuming is anybody's and takes no lock: one compare-and-swap on the slot
/// decides who wins. Unchecked because of the free list, which only the loop's thread touches.
public final class SuspensionTable: @unchecked Sendable {
  private static let firstChunkCount = 256
  /// 256 slots, then twice as many with each further chunk, up to 2^24 - 256.
  public static let maximumChunks = 16

  public let loop: any EventLoop
  private let chunks: InlineArray<16, AtomicLazyReference<SuspensionChunk>>
  private var free: [UInt32] = []
  private var chunkCount = 0
  private let chunkLimit: Int

  /// - Parameter chunks: how often the table grows; each chunk is twice as large as the one before.
  public init(loop: any EventLoop, chunks: Int = SuspensionTable.maximumChunks) {
    self.loop = loop
    chunkLimit = min(chunks, Self.maximumChunks)
    self.chunks = InlineArray { _ in AtomicLazyReference<SuspensionChunk>() }
  }

  /// Calls that are suspended now. [loop]
  package var suspendedCount: Int { Self.firstChunkCount * ((1 << chunkCount) - 1) - free.count }

  /// Whether no further call can be suspended. [loop]
  public var isFull: Bool { free.isEmpty && chunkCount >= chunkLimit }

  /// Takes a slot; nil when 16 million calls are suspended. [loop]
  func take(for transaction: Transaction) -> SuspensionToken? {
    if free.isEmpty, !grow() { return nil }
    guard let index = free.popLast(), let slot = slot(at: index) else { return nil }
    let generation = UInt32(truncatingIfNeeded: slot.state.load(ordering: .relaxed) >> 2) &+ 1
    let nonce = loop.random.next()
    slot.transaction = transaction
    slot.nonce.store(nonce, ordering: .relaxed)
    slot.state.store(SuspensionSlot.word(generation, .suspended), ordering: .releasing)
    return SuspensionToken(slot: UInt32(loop.index) << 24 | index, generation: generation, nonce: nonce)
  }

  /// Ends a suspension with a verdict, from any thread; the transaction goes on in a later turn of its loop.
  public func resume(_ token: SuspensionToken, _ verdict: Verdict) -> ResumeAnswer {
    resume(token) { _ in verdict }
  }

  /// Likewise, where the verdict is to be found out on the loop, when the resumption is delivered.
  public func resume(
    _ token: SuspensionToken, resolving verdict: @escaping @Sendable (Exchange) -> Verdict
  ) -> ResumeAnswer {
    guard let slot = slot(of: token) else { return .stale }
    guard slot.leaveSuspended(generation: token.generation, to: .resumed) else {
      let now = slot.state.load(ordering: .acquiring)
      return now == SuspensionSlot.word(token.generation, .resumed) ? .already : .stale
    }
    loop.post { [self] in deliver(token, slot, verdict) }
    return .accepted
  }

  /// Whether a token can still be resumed, as far as this can be known from any thread.
  public func isSuspended(_ token: SuspensionToken) -> Bool {
    slot(of: token)?.state.load(ordering: .acquiring) == SuspensionSlot.word(token.generation, .suspended)
  }

  /// The exchange that a token suspends, nil when it is gone. [loop]
  public func exchange(for token: SuspensionToken) -> Exchange? {
    guard let slot = slot(of: token),
      slot.state.load(ordering: .acquiring) == SuspensionSlot.word(token.generation, .suspended)
    else { return nil }
    return slot.transaction?.exchange
  }

  /// Withdraws a token before anybody resumed it; false when a resumption is under way. [loop]
  func expire(_ token: SuspensionToken) -> Bool {
    guard let slot = slot(of: token), slot.leaveSuspended(generation: token.generation, to: .expired) else {
      return false
    }
    slot.transaction = nil
    free.append(token.slot & 0xFF_FFFF)
    return true
  }

  private func deliver(_ token: SuspensionToken, _ slot: SuspensionSlot, _ verdict: (Exchange) -> Verdict) {
    let transaction = slot.transaction
    slot.transaction = nil
    free.append(token.slot & 0xFF_FFFF)
    if let transaction { transaction.wasResumed(token, verdict(transaction.exchange)) }
  }

  /// The slot that a token of this loop names, unless the nonce shows that it is another's.
  private func slot(of token: SuspensionToken) -> SuspensionSlot? {
    guard token.loopIndex == loop.index, let slot = slot(at: token.slot & 0xFF_FFFF),
      slot.nonce.load(ordering: .relaxed) == token.nonce
    else { return nil }
    return slot
  }

  private func slot(at index: UInt32) -> SuspensionSlot? {
    let shifted = Int(index) + Self.firstChunkCount
    let chunk = (Int.bitWidth - 1 - shifted.leadingZeroBitCount) - Self.firstChunkCount.trailingZeroBitCount
    guard chunk < Self.maximumChunks, let slots = chunks[chunk].load()?.slots else { return nil }
    return slots[shifted - Self.firstChunkCount << chunk]
  }

  private func grow() -> Bool {
    guard chunkCount < chunkLimit else { return false }
    let count = Self.firstChunkCount << chunkCount
    let first = UInt32(Self.firstChunkCount * ((1 << chunkCount) - 1))
    _ = chunks[chunkCount].storeIfNil(SuspensionChunk(count: count))
    chunkCount += 1
    free.append(contentsOf: (first..<first + UInt32(count)).reversed())
    return true
  }
}
