package import SluiceAssembly

/// An object that is told how swaps and probations end. The methods are called in order, on any thread, and must not
/// block.
package protocol SwapObserver: Sendable {
  /// A swap, a reload or a rollback has ended.
  func swapEnded(_ report: SwapReport)

  /// The builds that a failed probation has refused: SHA-256 in hex.
  func buildsWereRefused(_ hashes: [String], because reason: String)

  /// The published snapshot has passed its probation.
  func probationWasPassed(snapshot: Int)
}
