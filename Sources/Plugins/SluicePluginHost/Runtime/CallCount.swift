import Synchronization

/// Counts calls up to a limit. Can be used from any thread.
final class CallCount: Sendable {
  let limit: Int
  private let count = Atomic<Int>(0)

  init(limit: Int) { self.limit = limit }

  /// Counts a call. Returns false, without counting it, if the limit is reached.
  func enter() -> Bool {
    guard count.wrappingAdd(1, ordering: .relaxed).newValue > limit else { return true }
    leave()
    return false
  }

  func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
