import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Collects the error code of each transaction in the order of completion, or nil for a success.
final class ResultLog: Sendable {
  private let log = Locked<[ErrorCode?]>([])

  var codes: [ErrorCode?] { log.withLock { $0 } }

  func append(_ result: TransactionResult) { log.withLock { $0.append(result.error?.code) } }
}
