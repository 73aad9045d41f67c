/// The transactions of one loop that run on one pipeline.
///
/// Confined to that loop, and unchecked for that reason: counting costs no atomic operation.
package final class PipelineLeases: @unchecked Sendable {
  /// Those that have begun and whose completion has not returned.
  package private(set) var count = 0
  private var whenNone: (() -> Void)?

  func take() { count += 1 }

  func giveBack() {
    count -= 1
    if count == 0, let body = whenNone.take() { body() }
  }

  /// Runs the body once, when none is left, possibly at once. To be called when no new one begins on that pipeline. [loop]
  package func notifyWhenNone(_ body: @escaping () -> Void) {
    if count == 0 { return body() }
    whenNone = body
  }
}

// Safe because the pipeline keeps its leases; else counting, which is no atomic operation, would come with six of them.
extension Pipeline {
  func takeLease(on loop: Int) {
    unsafe Unmanaged.passUnretained(leases[loop])._withUnsafeGuaranteedRef { $0.take() }
  }

  func giveBackLease(on loop: Int) {
    unsafe Unmanaged.passUnretained(leases[loop])._withUnsafeGuaranteedRef { $0.giveBack() }
  }
}
