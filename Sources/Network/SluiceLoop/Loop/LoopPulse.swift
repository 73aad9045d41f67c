import SluiceSupport
import Synchronization

/// The state of a loop's thread.
enum LoopLife: Sendable {
  case running
  /// The thread was told to end, and has ended.
  case ended
  /// Code that the loop called has ended the thread.
  case diedEarly
  /// Other code in the process has closed the loop's descriptors. The thread has ended, or cannot be woken.
  case lostDescriptors
}

/// The state of a loop as other threads see it at one moment. Comparing two pulses shows whether the loop makes
/// progress.
package struct LoopPulse: Sendable, Hashable {
  /// The number of turns of the loop so far.
  package var turn: UInt64
  /// The loop is waiting for events, which is normal.
  package var isAsleep: Bool
  /// The thread has ended without being told to; the loop never makes progress again.
  package var hasDied: Bool
  /// The thread has ended because other code in the process has closed the loop's descriptors.
  package var hasLostDescriptors: Bool

  package init(turn: UInt64, isAsleep: Bool = false, hasDied: Bool = false, hasLostDescriptors: Bool = false) {
    self.turn = turn
    self.isAsleep = isAsleep
    self.hasDied = hasDied
    self.hasLostDescriptors = hasLostDescriptors
  }
}

extension Loop {
  /// The present state of the loop. Any thread may read it; this does not affect the loop.
  package var pulse: LoopPulse {
    let life = life.withLock { $0 }
    // A loop that ended because it was told to end has nothing left to do, so it counts as asleep.
    return LoopPulse(
      turn: turns.load(ordering: .relaxed), isAsleep: isAsleep.load(ordering: .relaxed) || life == .ended,
      hasDied: life == .diedEarly || life == .lostDescriptors, hasLostDescriptors: life == .lostDescriptors)
  }
}
