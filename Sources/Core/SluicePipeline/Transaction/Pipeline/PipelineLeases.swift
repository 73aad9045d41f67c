/// The transactions of one loop that run on one pipeline.
///
/// Unchecked because it is confined to that loop: counting needs no atomic operation.
package final class PipelineLeases: @unchecked Sendable {
  /// The transactions that have begun and whose completion has not returned.
  package private(set) var count = 0
  private var whenNone: (() -> Void)?

  func take() { count += 1 }

  func giveBack() {
    count -= 1
    if count == 0, let body = whenNone.take() { body() }
  }

  /// Runs the body a single time, as soon as no transaction is left. This can be before the call returns. Call it only
  /// when no more transactions begin on the pipeline. [loop]
  package func notifyWhenNone(_ body: @escaping () -> Void) {
    if count == 0 { return body() }
    whenNone = body
  }
}

// Safe because the pipeline keeps its leases. Without this, counting would cost six atomic operations of reference
// counting.
extension Pipeline {
  func takeLease(on loop: Int) {
    unsafe Unmanaged.passUnretained(leases[loop])._withUnsafeGuaranteedRef { $0.take() }
  }

  func giveBackLease(on loop: Int) {
    unsafe Unmanaged.passUnretained(leases[loop])._withUnsafeGuaranteedRef { $0.giveBack() }
  }
}
