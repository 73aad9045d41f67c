import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Ends a request on which nothing has happened for some time: what `timeoutInterval` of a `URLRequest` means.
final class IdleWatch: Sendable {
  private typealias Clock = ContinuousClock

  /// A longer time is not watched: the deadline of the configuration comes first.
  private static let longest = 366.0 * 86_400

  /// Nil if it does not watch.
  private let limit: Duration?
  private let last = Locked(Clock.now)
  private let task = Locked<Task<Void, Never>?>(nil)

  /// - Parameter seconds: if zero, negative or not a number, nothing is watched.
  init(seconds: Double) { limit = seconds > 0 && seconds < Self.longest ? .seconds(seconds) : nil }

  /// Something has happened.
  func touch() { last.withLock { $0 = Clock.now } }

  /// Begins to watch; once.
  func start(_ cancellation: Cancellation) {
    guard let limit else { return }
    touch()
    let watching = Task { [last] in
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
