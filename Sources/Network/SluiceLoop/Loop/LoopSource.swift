/// A part of a loop, such as a transport. It has descriptors, and work at the end of each turn.
package protocol LoopSource: AnyObject {
  /// A descriptor registered under this source is ready; `events` is epoll's mask. [loop]
  func descriptorIsReady(_ descriptor: Int32, _ events: UInt32)

  /// Called at the end of a turn, after everything else in the turn has run. [loop]
  func finishTurn()

  /// Whether ``finishTurn()`` has to run again before the loop can sleep. [loop]
  var hasWork: Bool { get }

  /// The loop ends; nothing is called afterwards. [loop]
  func loopWillEnd()
}
