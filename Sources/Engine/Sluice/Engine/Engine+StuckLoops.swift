import SluiceSupport

extension Engine {
  /// Sets the observer, which the engine retains until it ends.
  package func observeStuckLoops(_ observer: any StuckLoopObserver) {
    swaps.stuckLoopObserver.withLock { $0 = observer }
  }
}
