import Dispatch
import SluiceSupport

/// A value that threads change and that tests can wait for without polling.
package final class Watched<Value: Sendable>: Sendable {
  package typealias Condition = @Sendable (Value) -> Bool

  private struct Waiter: Sendable {
    let isMet: Condition
    let wake: @Sendable (Value?) -> Void
  }

  private struct State: Sendable {
    var value: Value
    var nextWaiter: UInt64 = 0
    var waiters: [UInt64: Waiter] = [:]
  }

  private let state: Locked<State>

  package init(_ value: Value) {
    state = Locked(State(value: value))
  }

  package var value: Value { state.withLock { $0.value } }

  /// Changes the value. After the lock is released, wakes the waiters whose condition is now true.
  @discardableResult
  package func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
    let (result, value, met) = state.withLock { state in
      let result = change(&state.value)
      let value = state.value
      let met = state.waiters.filter { $0.value.isMet(value) }
      for waiter in met.keys { state.waiters[waiter] = nil }
      return (result, value, met.values)
    }
    for waiter in met { waiter.wake(value) }
    return result
  }

  /// Suspends until the condition is true. Throws if the limit passes first, or if the task is cancelled.
  @discardableResult
  package func wait(
    upTo limit: Duration = Patience.limit, for what: String = "a condition", until isMet: @escaping Condition
  ) async throws -> Value {
    let deadline = Deadline()
    let value: Value? = await withTaskCancellationHandler {
      await Handover.wait { handover in
        let waiter = watch(isMet) { handover.give($0) }
        deadline.start(after: limit) { self.abandon(waiter) }
      }
    } onCancel: {
      deadline.fire()
    }
    deadline.cancel()
    guard let value else { throw TestKitError("waited in vain for \(what), up to \(limit)") }
    return value
  }

  /// Blocks the calling thread until the condition is true. Returns nil if the limit passes first.
  @discardableResult
  package func waitBlocking(upTo limit: Duration = Patience.limit, until isMet: @escaping Condition) -> Value? {
    let semaphore = DispatchSemaphore(value: 0)
    let waiter = watch(isMet) { _ in semaphore.signal() }
    _ = semaphore.wait(timeout: .now() + limit.dispatchInterval)
    abandon(waiter)
    let value = self.value
    return isMet(value) ? value : nil
  }

  /// Adds a waiter. Its `wake` is called once: with the value as soon as the condition is true, or with nil if the wait
  /// is abandoned.
  func watch(_ isMet: @escaping Condition, wake: @escaping @Sendable (Value?) -> Void) -> UInt64 {
    let (waiter, value) = state.withLock { state in
      state.nextWaiter += 1
      guard !isMet(state.value) else { return (state.nextWaiter, state.value as Value?) }
      state.waiters[state.nextWaiter] = Waiter(isMet: isMet, wake: wake)
      return (state.nextWaiter, nil)
    }
    if let value { wake(value) }
    return waiter
  }

  func abandon(_ waiter: UInt64) {
    state.withLock { $0.waiters.removeValue(forKey: waiter) }?.wake(nil)
  }
}
