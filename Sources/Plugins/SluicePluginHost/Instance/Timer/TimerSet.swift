import SluicePipeline
import SluiceSupport

/// A timer or schedule that an instance has started and can cancel.
protocol InstanceTimer: AnyObject, Sendable {
  var id: UInt64 { get }

  /// Returns true if this call prevents the function from being called. [any]
  func cancel() -> Bool

  /// Continues on another loop if it is on the loop with this index, which is stuck, and any loop may run its function.
  /// [any]
  func leave(_ stuck: Int, for other: any EventLoop)
}

/// The timers of an instance that have neither fired nor been cancelled.
final class TimerSet: Sendable {
  static let maximumCount = 10_000
  private struct State: Sendable {
    var timers: [UInt64: any InstanceTimer] = [:]
    var last: UInt64 = 0
    var isClosed = false
    /// The number of timer functions that have not returned.
    var running = 0
  }
  private let state = Monitor(State())

  enum Refusal: Error { case tooMany, closed }

  func add<Timer: InstanceTimer>(_ make: (UInt64) -> Timer) -> Result<Timer, Refusal> {
    state.withLock { state in
      if state.isClosed { return .failure(.closed) }
      guard state.timers.count < Self.maximumCount else { return .failure(.tooMany) }
      state.last += 1
      let timer = make(state.last)
      state.timers[state.last] = timer
      return .success(timer)
    }
  }

  var count: Int { state.withLock { $0.timers.count } }

  var all: [any InstanceTimer] { state.withLock { Array($0.timers.values) } }

  func remove(_ id: UInt64) -> (any InstanceTimer)? { state.withLock { $0.timers.removeValue(forKey: id) } }

  /// Removes a timer that fires. Returns false if the timer was cancelled. Must be followed by ``end()``.
  func begin(_ id: UInt64) -> Bool {
    state.withLock { state in
      guard state.timers.removeValue(forKey: id) != nil else { return false }
      state.running += 1
      return true
    }
  }

  func end() { state.update { $0.running -= 1 } }

  /// Cancels all timers, accepts no further ones, and waits for those that are firing. Returns false if a timer
  /// function has not returned within the limit.
  func cancelAll(within limit: Duration) -> Bool {
    let timers = state.withLock { state in
      state.isClosed = true
      defer { state.timers = [:] }
      return state.timers
    }
    for timer in timers.values { _ = timer.cancel() }
    return state.wait(upTo: limit) { $0.running == 0 ? true : nil } ?? false
  }
}
