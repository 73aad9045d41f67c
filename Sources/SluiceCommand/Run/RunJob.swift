import SluiceJSON
import SluiceMessages
import Synchronization

/// The request of one line, from reading to its result.
final class RunJob: Sendable {
  /// The `id` of the line, or its number.
  let id: ResultID
  /// The number of the line, counted from 1.
  let line: Int
  let request: Request
  let lineBytes: Int
  /// Where the request goes, by its line: a stage may still change it.
  var origin: Origin { request.url.origin }
  private let progress = Atomic<UInt8>(0)

  init(id: ResultID, line: Int, request: Request, lineBytes: Int) {
    self.id = id
    self.line = line
    self.request = request
    self.lineBytes = lineBytes
  }

  /// Called by the return of `submit` and by the completion; the second of the two starts the next job. Otherwise a
  /// transaction that completes within `submit` would deepen the stack by one call for each line.
  /// - Returns: whether the caller came second.
  func arrive() -> Bool { progress.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 1 }

  /// Called by a completion if the transaction's loop may never return from `submit`: the completion then continues the
  /// run itself, and a later return of the loop does not.
  func arriveAlone() -> Bool { progress.exchange(2, ordering: .acquiringAndReleasing) < 2 }
}
