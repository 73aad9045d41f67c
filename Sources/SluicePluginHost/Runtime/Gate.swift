import Glibc
import Synchronization

/// Lets callers through until it is closed; closing waits for those who are inside. Passing takes no lock.
///
/// Callers stay inside for a few instructions only, so closing may spin.
final class Gate: Sendable {
  private static let closedBit = 1
  /// Twice the number of those inside, and the closed bit.
  private let state = Atomic<Int>(0)

  var isClosed: Bool { state.load(ordering: .acquiring) & Self.closedBit != 0 }

  /// Runs the body unless the gate is closed; false when it was.
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
