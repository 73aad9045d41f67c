import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The outcomes that one instance must still report. Can be used from any thread.
///
///                    complete, any thread: one compare-and-swap
///      free ── open ───────────────────────────────► completed ──► free, in a later generation
///                └─ deadline, passed on, end ───────► expired ────┘
///
/// Opening takes a lock; ending takes the lock only to return the slot. Slots are used again in the order in which they
/// became free, so that a second completion is still recognized much later.
final class CompletionTable: Sendable {
  enum Answer: Sendable, Hashable {
    case accepted
    /// The work was completed before.
    case already
    /// The token is late, forged, or belongs to something that has ended.
    case stale
  }

  private static let firstCount = 64

  private struct Free: Sendable {
    /// The free slots; the last one is taken first.
    var ready: [UInt32] = []
    var returned: [UInt32] = []
    /// The tokens of open outcomes and their deadlines, by slot.
    var open: [UInt32: (token: CompletionToken, deadline: Instant)] = [:]
    var isClosed = false
  }

  /// 64 slots, then twice as many with each further chunk: 131,008 in all.
  private let slots = TokenSlots<OpenWork>(firstCount: firstCount, chunkLimit: 11)
  private let free = Locked(Free())

  /// Takes a free slot for the work, and returns its token; nil if the table is closed or full.
  func open(_ work: OpenWork) -> CompletionToken? {
    free.withLock { free in
      guard !free.isClosed, let index = next(&free), let slot = slots[index] else { return nil }
      let token = CompletionToken(slot: index, generation: slot.generation &+ 1, nonce: .random(in: 1 ... .max))
      work.adopt(token)
      slot.open(token.generation, token.nonce, for: work)
      free.open[index] = (token, work.deadline)
      return token
    }
  }

  /// The number of open outcomes. [any]
  var openCount: Int {
    free.withLock { slots.count - $0.ready.count - $0.returned.count }
  }

  func isOpen(_ token: CompletionToken) -> Bool { slot(of: token)?.isIn(.open, token.generation) ?? false }

  /// Whether the work of a token was completed, as far as the table still knows.
  func wasCompleted(_ token: CompletionToken) -> Bool { slot(of: token)?.isIn(.ended, token.generation) ?? false }

  /// Called when the plugin reports an outcome.
  func complete(_ token: CompletionToken, _ outcome: WorkOutcome) -> Answer {
    guard let slot = slot(of: token) else { return .stale }
    guard slot.leaveOpen(token.generation, to: .ended) else {
      return slot.isIn(.ended, token.generation) ? .already : .stale
    }
    let work = slot.takeOccupant()
    giveBack(token)
    work?.end(.outcome(outcome))
    return .accepted
  }

  /// Ends an open outcome; false if it has already ended.
  @discardableResult
  func close(_ token: CompletionToken, _ end: OpenWork.End) -> Bool {
    guard let slot = slot(of: token), slot.leaveOpen(token.generation, to: .expired) else { return false }
    let work = slot.takeOccupant()
    giveBack(token)
    work?.end(end)
    return true
  }

  /// Ends all open outcomes with ``OpenWork/End/cutOff``, and accepts no new ones.
  func closeAll() {
    let count = free.withLock { free in
      free.isClosed = true
      return slots.count
    }
    for index in 0..<count {
      guard let slot = slots[UInt32(index)], slot.leaveOpen(slot.generation, to: .expired) else { continue }
      slot.takeOccupant()?.end(.cutOff)
    }
  }

  /// Ends the open outcomes whose deadline has passed. Their own timers do this too, unless their loop is stuck.
  func closeOverdue(at now: Instant) {
    for work in free.withLock({ free in free.open.values.filter { $0.deadline <= now } }) {
      close(work.token, .outcome(.missedDeadline))
    }
  }

  private func giveBack(_ token: CompletionToken) {
    free.withLock { free in
      free.open[token.slot] = nil
      free.returned.append(token.slot)
    }
  }

  /// The slot that a token names; nil if the token's nonce shows that it belongs to another table.
  private func slot(of token: CompletionToken) -> TokenSlot<OpenWork>? { slots[token.slot, token.nonce] }

  private func next(_ free: inout Free) -> UInt32? {
    if free.ready.isEmpty {
      // If only few slots were returned, the table grows and does not use these slots yet: a slot must not be used
      // again soon.
      if free.returned.count < Self.firstCount / 2, grow(&free) { return free.ready.popLast() }
      free.ready = free.returned.reversed()
      free.returned = []
    }
    return free.ready.popLast()
  }

  private func grow(_ free: inout Free) -> Bool {
    guard let added = slots.grow() else { return false }
    free.ready.append(contentsOf: added.reversed())
    return true
  }
}
