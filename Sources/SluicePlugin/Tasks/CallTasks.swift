import CSluice
import SluiceSupport
import Synchronization

/// The tasks of an instance that rest, and its suspended calls.
final class CallTasks: Sendable {
  private struct State {
    var resting: [CallTask] = []
  }

  /// More tasks than this end when their call is over. Only calls that wait at the same time need more than one.
  private static let maximumResting = 32

  private let state = Locked(State())
  /// A resting task, retained. Most instances need no other, and this one needs no lock.
  private let first = Atomic<Unmanaged<CallTask>?>(nil)
  private let isClosed = Atomic<Bool>(false)
  let link: HostLink
  let suspended = SuspendedCalls()

  init(_ link: HostLink) { self.link = link }

  /// A task for one call. Its ``CallTask/run(_:on:_:)`` gives it back; without such a call, the caller does.
  func take() -> CallTask {
    if let task = takeFirst() { return task }
    return state.withLock { $0.resting.popLast() } ?? CallTask(self)
  }

  private func takeFirst() -> CallTask? {
    first.exchange(nil, ordering: .sequentiallyConsistent)?.takeRetainedValue()
  }

  /// Gives back a task that rests or was never started.
  func give(_ task: CallTask) {
    let kept = Unmanaged.passRetained(task)
    if first.compareExchange(expected: nil, desired: kept, ordering: .sequentiallyConsistent).exchanged {
      // Either this sees that the instance has closed, or close() sees the task.
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

  /// Ends the resting tasks, which would wait forever. Tasks whose calls are under way end after them.
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
