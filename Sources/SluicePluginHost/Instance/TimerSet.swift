import SluiceLocks

/// The timers of an instance that have neither fired nor been cancelled.
final class TimerSet: Sendable {
  static let maximumCount = 10_000
  private struct State: Sendable {
    var timers: [UInt64: PluginTimer] = [:]
    var last: UInt64 = 0
    var isClosed = false
  }
  private let state = Locked(State())

  enum Refusal: Error { case tooMany, closed }

  func add(_ make: (UInt64) -> PluginTimer) -> Result<PluginTimer, Refusal> {
    let id = state.withLock { state -> Result<UInt64, Refusal> in
      if state.isClosed { return .failure(.closed) }
      guard state.timers.count < Self.maximumCount else { return .failure(.tooMany) }
      state.last += 1
      return .success(state.last)
    }
    return id.map { id in
      let timer = make(id)
      state.withLock { $0.timers[id] = timer }
      return timer
    }
  }

  func remove(_ id: UInt64) -> PluginTimer? { state.withLock { $0.timers.removeValue(forKey: id) } }

  /// Cancels all, and takes no more.
  func cancelAll() {
    let timers = state.withLock { state in
      state.isClosed = true
      defer { state.timers = [:] }
      return state.timers
    }
    for timer in timers.values { _ = timer.cancel() }
  }
}
