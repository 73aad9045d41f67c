import SluicePipeline
import SluiceSupport

/// The call-outs of an instance whose completion has not begun, and which of them were cancelled.
///
/// A completion removes its call from the set under the set's lock. So `cancel` either comes earlier and decides the
/// outcome, or gets `STALE`.
final class CallOutSet: Sendable {
  private struct Entry: Sendable {
    let call: CallOut
    var isCancelled = false
  }

  private struct State: Sendable {
    var calls: [UInt64: Entry] = [:]
    var last: UInt64 = 0
    var isClosed = false
    var refusals = 0
  }

  private let state = Locked(State())

  enum Refusal: Error, Equatable {
    case closed
    /// The count of refusals so far.
    case tooMany(Int)
  }

  func add(limit: Int, _ make: (UInt64) -> CallOut) -> Result<CallOut, Refusal> {
    state.withLock { state in
      if state.isClosed { return .failure(.closed) }
      guard state.calls.count < limit else {
        state.refusals += 1
        return .failure(.tooMany(state.refusals))
      }
      state.last += 1
      let call = make(state.last)
      state.calls[state.last] = Entry(call: call)
      return .success(call)
    }
  }

  /// Removes a call that is being completed. Returns whether it was cancelled before.
  func remove(_ id: UInt64) -> Bool { state.withLock { $0.calls.removeValue(forKey: id)?.isCancelled ?? false } }

  /// The calls on a loop that are overdue, and that no exchange waits for.
  func overdue(on loop: Int, at now: Instant) -> [CallOut] {
    state.withLock { state in
      state.calls.values.map(\.call).filter { $0.loop.index == loop && $0.order.parent == nil && $0.latestEnd <= now }
    }
  }

  /// Whether a call was cancelled or removed.
  func isCancelled(_ id: UInt64) -> Bool { state.withLock { $0.calls[id]?.isCancelled ?? true } }

  /// Ends a call; false if it is already complete.
  func cancel(_ id: UInt64) -> Bool {
    let call = state.withLock { state in
      state.calls[id]?.isCancelled = true
      return state.calls[id]?.call
    }
    call?.abort()
    return call != nil
  }

  /// Ends the calls that were made on behalf of a suspended exchange.
  func cancelAll(for parent: SuspensionToken) { cancelAll { $0.order.parent == parent } }

  /// Ends all calls, and accepts no further ones.
  func close() {
    state.withLock { $0.isClosed = true }
    cancelAll { _ in true }
  }

  private func cancelAll(where isMeant: (CallOut) -> Bool) {
    let calls = state.withLock { state in
      guard !state.calls.isEmpty else { return [CallOut]() }
      let calls = state.calls.values.map(\.call).filter(isMeant)
      for call in calls { state.calls[call.id]?.isCancelled = true }
      return calls
    }
    for call in calls { call.abort() }
  }
}
