import SluiceLocks
import SluiceMessages
import SluicePipeline
import Synchronization

/// The outcomes that are due from one instance. From any thread.
///
///                    complete, any thread: one compare-and-swap
///      free ── open ───────────────────────────────► completed ──► free, in a later generation
///                └─ deadline, passed on, end ───────► expired ────┘
///
/// Opening takes a lock, ending does not but for giving the slot back. Slots are used again in the order in which they
/// became free, so that a second completion is known as one for long.
final class CompletionTable: Sendable {
  enum Answer: Sendable, Hashable {
    case accepted
    /// It was completed before.
    case already
    /// Late, forged, or from something that is over.
    case stale
  }

  private static let firstChunkCount = 64
  /// 64 slots, then twice as many with each further chunk: 131,008 in all.
  private static let chunkLimit = 11

  private struct Free: Sendable {
    /// To be taken from the end.
    var ready: [UInt32] = []
    var returned: [UInt32] = []
    var chunkCount = 0
    var isClosed = false
  }

  private let chunks: InlineArray<11, AtomicLazyReference<CompletionChunk>>
  private let free = Locked(Free())

  init() { chunks = InlineArray { _ in AtomicLazyReference<CompletionChunk>() } }

  /// Takes a slot; nil when the table is closed, or full.
  func open(_ work: OpenWork) -> CompletionToken? {
    free.withLock { free in
      guard !free.isClosed, let index = next(&free), let slot = slot(at: index) else { return nil }
      let generation = UInt32(truncatingIfNeeded: slot.state.load(ordering: .relaxed) >> 2) &+ 1
      let token = CompletionToken(slot: index, generation: generation, nonce: .random(in: 1 ... .max))
      work.adopt(token)
      slot.work = work
      slot.nonce.store(token.nonce, ordering: .relaxed)
      slot.state.store(CompletionSlot.word(generation, .open), ordering: .releasing)
      return token
    }
  }

  /// Those that are due now. [any]
  var openCount: Int {
    free.withLock { free in
      Self.firstChunkCount * ((1 << free.chunkCount) - 1) - free.ready.count - free.returned.count
    }
  }

  func isOpen(_ token: CompletionToken) -> Bool { slot(of: token)?.isIn(.open, token.generation) ?? false }

  /// Whether it was completed, as far as is still known.
  func wasCompleted(_ token: CompletionToken) -> Bool { slot(of: token)?.isIn(.completed, token.generation) ?? false }

  /// The plugin reports an outcome.
  func complete(_ token: CompletionToken, _ outcome: WorkOutcome) -> Answer {
    guard let slot = slot(of: token) else { return .stale }
    guard let work = slot.close(token.generation, to: .completed) else {
      return slot.isIn(.completed, token.generation) ? .already : .stale
    }
    giveBack(token)
    work.end(.outcome(outcome))
    return .accepted
  }

  /// Ends what nobody has ended; false where somebody has.
  @discardableResult
  func close(_ token: CompletionToken, _ end: OpenWork.End) -> Bool {
    guard let work = slot(of: token)?.close(token.generation, to: .expired) else { return false }
    giveBack(token)
    work.end(end)
    return true
  }

  /// Ends everything that is open as cut off, and opens nothing more.
  func closeAll() {
    let count = free.withLock { free in
      free.isClosed = true
      return Self.firstChunkCount * ((1 << free.chunkCount) - 1)
    }
    for index in 0..<count {
      guard let slot = slot(at: UInt32(index)) else { continue }
      let generation = UInt32(truncatingIfNeeded: slot.state.load(ordering: .acquiring) >> 2)
      slot.close(generation, to: .expired)?.end(.cutOff)
    }
  }

  private func giveBack(_ token: CompletionToken) { free.withLock { $0.returned.append(token.slot) } }

  /// The slot that a token names, unless the nonce shows that it is another's.
  private func slot(of token: CompletionToken) -> CompletionSlot? {
    guard let slot = slot(at: token.slot), slot.nonce.load(ordering: .relaxed) == token.nonce else { return nil }
    return slot
  }

  private func slot(at index: UInt32) -> CompletionSlot? {
    let shifted = Int(index) + Self.firstChunkCount
    let chunk = (Int.bitWidth - 1 - shifted.leadingZeroBitCount) - Self.firstChunkCount.trailingZeroBitCount
    guard chunk < Self.chunkLimit, let slots = chunks[chunk].load()?.slots else { return nil }
    return slots[shifted - Self.firstChunkCount << chunk]
  }

  private func next(_ free: inout Free) -> UInt32? {
    if free.ready.isEmpty {
      // Few of them would be used again soon.
      if free.returned.count < Self.firstChunkCount / 2, grow(&free) { return free.ready.popLast() }
      free.ready = free.returned.reversed()
      free.returned = []
    }
    return free.ready.popLast()
  }

  private func grow(_ free: inout Free) -> Bool {
    guard free.chunkCount < Self.chunkLimit else { return false }
    let count = Self.firstChunkCount << free.chunkCount
    let first = UInt32(Self.firstChunkCount * ((1 << free.chunkCount) - 1))
    _ = chunks[free.chunkCount].storeIfNil(CompletionChunk(count: count))
    free.chunkCount += 1
    free.ready.append(contentsOf: (first..<first + UInt32(count)).reversed())
    return true
  }
}
