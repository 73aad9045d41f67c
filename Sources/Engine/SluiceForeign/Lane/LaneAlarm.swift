import SluiceLoop
import SluicePipeline
import SluiceSupport

/// Enters a lane if a timer is due or work was posted there and no thread of the program is inside the lane. Its thread
/// starts with the first timer or post of a plugin. Transactions alone do not need the thread.
final class LaneAlarm: Sendable {
  private struct State: Sendable {
    var isClosed = false
    var hasThread = false
    /// When each lane must be entered.
    var due: [Instant]
  }

  /// Timers that are due later than this are ignored: they belong to transactions, whose time limit is infinite here.
  private static let horizon = Duration.seconds(24 * 60 * 60)

  /// This is enough for stages. The default of the process may be too small.
  private static let stackBytes = 1 << 20

  private let loops: [CallerLoop]
  private let state: Monitor<State>

  init(_ loops: [CallerLoop]) {
    self.loops = loops
    state = Monitor(State(due: loops.map { _ in .distantFuture }))
    for (index, loop) in loops.enumerated() {
      loop.onWork = { [weak self, unowned loop] deadline in
        if deadline < loop.now + Self.horizon { self?.set(index, deadline) }
      }
    }
  }

  private func set(_ index: Int, _ deadline: Instant) {
    let isEarlier = state.withLock { $0.due[index] > deadline && !$0.isClosed }
    guard isEarlier else { return }
    let starts = state.update { state in
      state.due[index] = min(state.due[index], deadline)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    // If no thread can be started, timers fire with the next transfer.
    if starts { _ = SystemThread.start("sluice-timers", stackBytes: Self.stackBytes) { [self] in serve() } }
  }

  func close() { state.update { $0.isClosed = true } }

  private enum Wake {
    case closed
    /// A deadline became earlier, so the time to wait must be computed again.
    case changed
    case due([Int])
  }

  private func serve() {
    while true {
      ThreadWatcher.yield()
      switch wait() {
      case .closed: return
      case .changed, nil: continue
      case .due(let lanes):
        for index in lanes {
          loops[index].enter()
          loops[index].leave()
        }
      }
    }
  }

  /// Waits for the next event. Returns nil if nothing happened until the end of the wait.
  private func wait() -> Wake? {
    let next = state.withLock { $0.due.min() } ?? .distantFuture
    return state.wait(upTo: min(next.duration(since: loops[0].now), Self.horizon)) { state in
      if state.isClosed { return .closed }
      if let earliest = state.due.min(), earliest < next { return .changed }
      let now = loops[0].now
      let due = state.due.indices.filter { state.due[$0] <= now }
      for index in due { state.due[index] = .distantFuture }
      return due.isEmpty ? nil : .due(due)
    }
  }
}
