import Dispatch
import Foundation
import FoundationNetworking
import SluiceClient
import SluiceMessages
import SluiceSupport

/// The state of the request of one URLSession task. It is separate from the protocol object, because the session uses
/// that object only on its queue.
final class ProtocolLoad: Sendable {
  typealias Outcome = Result<(data: Data, response: HTTPURLResponse), URLError>

  private enum State {
    case waiting
    case running(Task<Void, Never>)
    case finished(Outcome)
    case over
  }

  enum Step {
    case start
    case deliver(Outcome)
    case nothing
  }

  /// A queue on which all tasks are resumed. It is used instead of a thread of Swift's pool, because suspending and
  /// resuming a task waits for the queue that all sessions share.
  private static let queue = DispatchQueue(label: "sluice-url-protocol")

  private let state = Locked(State.waiting)

  /// The step to take when the session calls `startLoading()`.
  func next() -> Step {
    state.withLock { state in
      switch state {
      case .waiting: return .start
      case .finished(let outcome):
        state = .over
        return .deliver(outcome)
      case .running, .over: return .nothing
      }
    }
  }

  /// Sends the request. When the request has ended, makes the session call `startLoading()` again.
  ///
  /// The session must be called only on its own queue. Resuming a task is the only way to run code on that queue:
  /// swift-corelibs-foundation then calls `startLoading()` on it. A task that the program has suspended gets its
  /// response when the program resumes it.
  func start(_ task: URLSessionTask, _ body: @escaping @Sendable () async -> Outcome) {
    let running = Task {
      let outcome = await body()
      let isWanted = self.state.withLock { state in
        if case .over = state { return false }
        state = .finished(outcome)
        return true
      }
      guard isWanted else { return }
      Self.queue.async {
        task.suspend()
        task.resume()
      }
    }
    state.withLock { state in
      if case .waiting = state { state = .running(running) }
    }
  }

  func cancel() {
    let previous = state.withLock { state in
      defer { state = .over }
      return state
    }
    if case .running(let task) = previous { task.cancel() }
  }
}
