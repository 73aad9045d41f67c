private import Synchronization

/// A value that one thread gives, once, to a task that waits for it.
///
/// It is a checked continuation with its own memory ordering. The runtime orders the accesses too, but in Swift 6.3 the
/// thread sanitizer does not see this if the value is given before the task has begun to wait. It would then report a
/// race on the value.
package final class Handover<Value: Sendable>: Sendable {
  private let continuation: CheckedContinuation<Value, Never>
  private let isGiven = Atomic(false)

  private init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = continuation }

  /// Calls the body at once with a new handover, and waits until that handover gets its value.
  package static func wait(_ body: (Handover<Value>) -> Void) async -> Value {
    var handover: Handover<Value>?
    let value = await withCheckedContinuation { continuation in
      let made = Handover(continuation)
      handover = made
      body(made)
    }
    _ = handover?.isGiven.load(ordering: .acquiring)
    return value
  }

  /// Gives the value, from any thread. A second value is a programming error and ends the process.
  package func give(_ value: Value) {
    isGiven.store(true, ordering: .releasing)
    continuation.resume(returning: value)
  }
}

extension Handover where Value == Void {
  package func give() { give(()) }
}
