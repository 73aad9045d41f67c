/// An object that holds work for the loops of an engine, and is told which loops do not do it. The methods are called
/// on the watchdog's thread and must not block.
package protocol StuckLoopObserver: Sendable {
  /// Called at each check while the loop is stuck, after its requests were moved or ended.
  func loopIsStuck(_ index: Int)

  /// The loop makes progress again.
  func loopMoves(_ index: Int)
}
