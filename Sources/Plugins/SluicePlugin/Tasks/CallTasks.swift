import CSluice
import SluiceSupport
import Synchronization

/// The idle tasks of an instance, and its suspended calls.
final class CallTasks: Sendable {
  private struct State {
    var resting: [CallTask] = []
  }

  /// The maximum number of idle tasks besides ``first``; a further task ends when its call is over. An instance needs
  /// more than one task only if several of its calls run or wait at the same time.
  private static let maximumResting = 32

  private let state = Locked(State())
  /// An idle task, retained. Most instances need no other task. Taking this task needs no lock.
  private let first = Atomic<Unmanaged<CallTask>?>(nil)
  private let isClosed = Atomic<Bool>(false)
  let link: HostLink
  let suspended = SuspendedCalls()

  init(_ link: HostLink) { self.link = link }

  /// A task for one call. ``CallTask/run(_:on:_:)`` gives the task back; a caller that does not run the task must give
  /// it back itself.
  func take() -> CallTask {
    if let task = takeFirst() { return task }
    return state.withLock { $0.resting.popLast() } ?? CallTask(self)
  }

  private func takeFirst() -> CallTask? {
    first.exchange(nil, ordering: .sequentiallyConsistent)?.takeRetainedValue()
  }

  /// Gives back a task that is idle or was never started.
  func give(_ task: CallTask) {
    let kept = Unmanaged.passRetained(task)
    if first.compareExchange(expected: nil, desired: kept, ordering: .sequentiallyConsistent).exchanged {
      // There is no race with `close()`: either this line sees that the instance is closed, or `close()` sees the task.
      if isClosed.load(ordering: .sequentiallyConsistent) { takeFirst()?.end() }
      return
    }
    kept.release()
    let isKept = state.withLock { state in
      guard !isClosed.load(ordering: .relaxed), state.resting.count < Self.maximumResting else { return false }
      state.resting.append(task)
      return true
    }
    if !isKept { task.end() }
  }

  /// Ends the idle tasks, which would otherwise wait forever. Other tasks end when their calls are over.
  func close() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    takeFirst()?.end()
    let tasks = state.withLock { state in
      defer { state.resting = [] }
      return state.resting
    }
    for task in tasks { task.end() }
  }
}
