import Glibc
import Synchronization

/// Lets callers in until the gate is closed. Closing waits for the callers inside. Entering takes no lock.
///
/// Callers stay inside for a few instructions only, so closing can spin.
final class Gate: Sendable {
  private static let closedBit = 1
  /// Twice the number of callers inside, plus the closed bit.
  private let state = Atomic<Int>(0)

  var isClosed: Bool { state.load(ordering: .acquiring) & Self.closedBit != 0 }

  /// Runs the body unless the gate is closed; returns false if it was closed.
  func pass(_ body: () -> Void) -> Bool {
    let before = state.add(2, ordering: .acquiring).oldValue
    defer { state.subtract(2, ordering: .releasing) }
    guard before & Self.closedBit == 0 else { return false }
    body()
    return true
  }

  func close() {
    state.bitwiseOr(Self.closedBit, ordering: .acquiringAndReleasing)
    while state.load(ordering: .acquiring) > Self.closedBit { sched_yield() }
  }
}
