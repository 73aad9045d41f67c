private import Synchronization

/// A value that one thread gives, once, to a task that waits for it.
///
/// A checked continuation with an order of its own: where the value is given before the task has begun to wait, the thread
/// sanitizer does not see the runtime's (Swift 6.3), and takes what the value refers to for a race.
package final class Handover<Value: Sendable>: Sendable {
  private let continuation: CheckedContinuation<Value, Never>
  private let isGiven = Atomic(false)

  private init(_ continuation: CheckedContinuation<Value, Never>) { self.continuation = continuation }

  /// Calls the body at once, and waits until somebody gives a value to what it was called with.
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

  /// From any thread. A second value is a fault of the program's, which ends.
  package func give(_ value: Value) {
    isGiven.store(true, ordering: .releasing)
    continuation.resume(returning: value)
  }
}

extension Handover where Value == Void {
  package func give() { give(()) }
}
