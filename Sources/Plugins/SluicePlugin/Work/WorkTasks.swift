import CSluice
import SluiceMessages
import SluiceSupport

/// The running work of an instance, which the end of the instance cancels.
final class WorkTasks: Sendable {
  private struct State: Sendable {
    var last: UInt64 = 0
    /// The tasks by the number of their work. The task is nil while the work runs and `run` does not have its task yet.
    var tasks: [UInt64: Task<Void, Never>?] = [:]
    var isCancelled = false
  }

  private let state = Locked(State())
  private let executor: LoopExecutor

  init(_ link: HostLink) { executor = LoopExecutor(link) }

  /// Runs the body on the calling thread until it first waits, and afterwards on an event loop.
  func run(_ body: @escaping @Sendable () async -> Void) {
    let number = state.withLock { state in
      state.last += 1
      state.tasks[state.last] = .some(nil)
      return state.last
    }
    let task = Task.immediate(executorPreference: executor) { [self] in
      await body()
      state.withLock { _ = $0.tasks.removeValue(forKey: number) }
    }
    let isCancelled = state.withLock { state in
      if state.tasks[number] != nil { state.tasks[number] = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the running work, and makes `run` cancel all work that begins later.
  func cancelAll() {
    let tasks = state.withLock { state in
      state.isCancelled = true
      return state.tasks.values.compactMap(\.self)
    }
    for task in tasks { task.cancel() }
  }
}

extension HostLink {
  /// Reports an outcome; an outcome that comes too late has no effect.
  func complete(_ completion: sluice_completion, _ outcome: WorkOutcome) {
    withHost { host in
      _ = host.completions?.pointee.complete(host, completion, outcome.number)
    }
  }
}

extension WorkOutcome {
  /// The number that `completions.h` defines for the outcome. That header has no number for a missed deadline, because
  /// only the host can tell that a deadline was missed.
  fileprivate var number: sluice_work_outcome {
    switch self {
    case .newData: sluice_work_outcome(SLUICE_WORK_NEW_DATA)
    case .noData: sluice_work_outcome(SLUICE_WORK_NO_DATA)
    case .failed, .missedDeadline: sluice_work_outcome(SLUICE_WORK_FAILED)
    }
  }
}
