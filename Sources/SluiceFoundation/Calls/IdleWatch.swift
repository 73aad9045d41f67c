import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Ends a request on which nothing has happened for some time: what `timeoutInterval` of a `URLRequest` means.
final class IdleWatch: Sendable {
  private typealias Clock = ContinuousClock

  private let limit: Duration
  private let last = Locked(Clock.now)
  private let task = Locked<Task<Void, Never>?>(nil)

  init(_ limit: Duration) { self.limit = limit }

  /// Something has happened.
  func touch() { last.withLock { $0 = Clock.now } }

  /// Begins to watch; once.
  func start(_ cancellation: Cancellation) {
    touch()
    let watching = Task { [limit, last] in
      while !Task.isCancelled {
        let due = last.withLock { $0 } + limit
        guard Clock.now < due else {
          let message = "nothing has come for \(limit), the timeoutInterval of the request"
          return cancellation.fail(TransactionError(code: .timeout, message: message))
        }
        try? await Task.sleep(until: due, clock: .continuous)
      }
    }
    task.withLock { $0 = watching }
  }

  func stop() { task.withLock { $0 }?.cancel() }
}
