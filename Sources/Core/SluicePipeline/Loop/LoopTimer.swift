/// A timer that its owner embeds; arming it allocates nothing.
///
/// Confined to one loop. The loop keeps an armed timer alive and calls its target once, on the loop's thread.
package final class LoopTimer {
  /// The object to call. The loop sets it when the timer is armed, and clears it when the timer fires or is disarmed.
  package var target: (any LoopTimerTarget)?

  /// Its place in the queue, which the loop maintains; -1 if it is not in the queue.
  package var queuePosition = -1
  package var deadline = Instant.distantFuture

  package init() {}

  package var isArmed: Bool { queuePosition >= 0 }
}

package protocol LoopTimerTarget: AnyObject {
  /// Called after the deadline has passed; the loop has disarmed the timer before this call. [loop]
  func timerDidFire(_ timer: LoopTimer)
}
