/// The suspended calls of one loop.
///
/// Only the loop takes and releases slots. Any thread may resume, without a lock: one compare-and-swap on the slot
/// decides who wins. Unchecked because of the free list, which only the loop's thread touches.
package final class SuspensionTable: @unchecked Sendable {
  /// 256 slots, then twice as many with each further chunk, up to 2^24 - 256.
  package static let maximumChunks = 16

  package let loop: any EventLoop
  private let slots: TokenSlots<Transaction>
  private var free: [UInt32] = []

  /// - Parameter chunks: the maximum number of chunks; each is twice as large as the one before.
  package init(loop: any EventLoop, chunks: Int = SuspensionTable.maximumChunks) {
    self.loop = loop
    slots = TokenSlots(firstCount: 256, chunkLimit: chunks)
  }

  /// Calls that are suspended now. [loop]
  package var suspendedCount: Int { slots.count - free.count }

  /// Whether no further call can be suspended. [loop]
  package var isFull: Bool { free.isEmpty && !slots.canGrow }

  /// Takes a slot; nil when 16 million calls are suspended. [loop]
  func take(for transaction: Transaction) -> SuspensionToken? {
    if free.isEmpty, !grow() { return nil }
    guard let index = free.popLast(), let slot = slots[index] else { return nil }
    let generation = slot.generation &+ 1
    let nonce = loop.random.next()
    slot.open(generation, nonce, for: transaction)
    return SuspensionToken(slot: UInt32(loop.index) << 24 | index, generation: generation, nonce: nonce)
  }

  /// Ends a suspension with a verdict, from any thread; the transaction continues in a later turn of its loop.
  package func resume(_ token: SuspensionToken, _ verdict: Verdict) -> ResumeAnswer {
    resume(token) { _ in verdict }
  }

  /// Ends a suspension. The verdict is computed on the loop when the resumption is delivered.
  package func resume(
    _ token: SuspensionToken, resolving verdict: @escaping @Sendable (Exchange) -> Verdict
  ) -> ResumeAnswer {
    guard let slot = slot(of: token) else { return .stale }
    guard slot.leaveOpen(token.generation, to: .ended) else {
      return slot.isIn(.ended, token.generation) ? .already : .stale
    }
    loop.post { [self] in deliver(token, slot, verdict) }
    return .accepted
  }

  /// Whether a token can still be resumed, as far as this can be known from any thread.
  package func isSuspended(_ token: SuspensionToken) -> Bool {
    slot(of: token)?.isIn(.open, token.generation) ?? false
  }

  /// The exchange that a token suspends; nil if the exchange has ended. [loop]
  package func exchange(for token: SuspensionToken) -> Exchange? {
    guard let slot = slot(of: token), slot.isIn(.open, token.generation) else { return nil }
    return slot.occupant
  }

  /// Withdraws a token that was not resumed; false if a resumption is under way. [loop]
  func expire(_ token: SuspensionToken) -> Bool {
    guard let slot = slot(of: token), slot.leaveOpen(token.generation, to: .expired) else { return false }
    slot.occupant = nil
    free.append(token.slot & 0xFF_FFFF)
    return true
  }

  private func deliver(_ token: SuspensionToken, _ slot: TokenSlot<Transaction>, _ verdict: (Exchange) -> Verdict) {
    let transaction = slot.takeOccupant()
    free.append(token.slot & 0xFF_FFFF)
    if let transaction { transaction.wasResumed(token, verdict(transaction)) }
  }

  /// The slot that a token of this loop refers to; nil if the nonce shows that the token belongs to another table.
  private func slot(of token: SuspensionToken) -> TokenSlot<Transaction>? {
    token.loopIndex == loop.index ? slots[token.slot & 0xFF_FFFF, token.nonce] : nil
  }

  private func grow() -> Bool {
    guard let added = slots.grow() else { return false }
    free.append(contentsOf: added.reversed())
    return true
  }
}
