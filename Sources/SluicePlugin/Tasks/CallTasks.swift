import CSluice
import SluiceSupport

/// The tasks of an instance that rest, and its suspended calls.
final class CallTasks: Sendable {
  private struct State {
    var resting: [CallTask] = []
    var isClosed = false
  }

  /// More tasks than this end when their call is over. Only calls that wait at the same time need more than one.
  private static let maximumResting = 32

  private let state = Locked(State())
  let link: HostLink
  let suspended = SuspendedCalls()

  init(_ link: HostLink) { self.link = link }

  /// A task for one call. Its ``CallTask/run(_:on:_:)`` gives it back; without such a call, the caller does.
  func take() -> CallTask { state.withLock { $0.resting.popLast() } ?? CallTask(self) }

  /// Gives back a task that rests or was never started.
  func give(_ task: CallTask) {
    let isKept = state.withLock { state in
      guard !state.isClosed, state.resting.count < Self.maximumResting else { return false }
      state.resting.append(task)
      return true
    }
    if !isKept { task.end() }
  }

  /// Ends the resting tasks, which would wait forever. Tasks whose calls are under way end after them.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      defer { state.resting = [] }
      return state.resting
    }
    for task in tasks { task.end() }
  }
}
