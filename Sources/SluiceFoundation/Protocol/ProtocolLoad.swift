import Dispatch
import Foundation
import FoundationNetworking
import SluiceClient
import SluiceMessages
import SluiceSupport

/// The request of one task of a URLSession: its state, apart from the protocol object, which belongs to the session's queue.
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

  /// Not a thread of Swift's pool, and one for all tasks: suspending and resuming waits for the queue of all sessions.
  private static let queue = DispatchQueue(label: "sluice-url-protocol")

  private let state = Locked(State.waiting)

  /// What to do when the session asks to load.
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

  /// Sends the request, and makes the session ask again when it has ended.
  ///
  /// The session must be told of everything on its own queue, to which only a resumed task leads: swift-corelibs-foundation
  /// calls `startLoading()` there each time. A task that the program has suspended gets its response when the program
  /// resumes it.
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
