/// A timer that its owner embeds; arming it allocates nothing.
///
/// Confined to one loop. The loop keeps an armed timer alive and calls its target once, on the loop's thread.
package final class LoopTimer {
  /// Who is told; set by the loop while the timer is armed and cleared when it fires or is disarmed.
  package var target: (any LoopTimerTarget)?

  /// Kept by the loop while the timer is armed: its place in the queue, -1 when it is not in it.
  package var queuePosition = -1
  package var deadline = Instant.distantFuture

  package init() {}

  package var isArmed: Bool { queuePosition >= 0 }
}

package protocol LoopTimerTarget: AnyObject {
  /// The deadline has passed; the timer is disarmed already. [loop]
  func timerDidFire(_ timer: LoopTimer)
}
