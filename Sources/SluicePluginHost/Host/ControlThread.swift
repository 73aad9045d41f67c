/// A thread for the `[control]` calls with which instances end: they may block, and what they wait for may need the threads
/// that tasks run on.
package enum ControlThread {
  /// Runs the body on a thread of its own; on the caller's where none can be had.
  package static func run(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      if LoaderThread.start(body, then: { continuation.resume() }) { return }
      body()
      continuation.resume()
    }
  }
}
