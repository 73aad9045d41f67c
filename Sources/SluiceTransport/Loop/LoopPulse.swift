import SluiceLocks
import Synchronization

/// Whether the thread of a loop is there.
enum LoopLife: Sendable {
  case running
  /// It was told to end, and has.
  case ended
  /// Something that the loop called has ended the thread.
  case diedEarly
}

/// What can be seen of a loop from outside at one moment: two looks tell whether it moves.
package struct LoopPulse: Sendable, Hashable {
  /// Counts the turns of the loop.
  package var turn: UInt64
  /// It waits for events, as it should.
  package var isAsleep: Bool
  /// Its thread was ended from within; it will never move again.
  package var hasDied: Bool

  package init(turn: UInt64, isAsleep: Bool = false, hasDied: Bool = false) {
    self.turn = turn
    self.isAsleep = isAsleep
    self.hasDied = hasDied
  }
}

extension Loop {
  /// From any thread; the loop notices nothing of it.
  package var pulse: LoopPulse {
    let life = life.withLock { $0 }
    // One that has ended as it was told to has nothing to do any more.
    return LoopPulse(
      turn: turns.load(ordering: .relaxed), isAsleep: isAsleep.load(ordering: .relaxed) || life == .ended,
      hasDied: life == .diedEarly)
  }
}
