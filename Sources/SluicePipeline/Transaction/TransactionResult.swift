public import SluiceMessages
import SluiceMetrics

/// What a transaction came to; given exactly once.
public struct TransactionResult: Sendable {
  public let id: TransactionID
  public let requestID: String
  /// Whatever response there is, also beside an error.
  public var response: Response?
  /// Nil where the transaction succeeded.
  public var error: TransactionError?
  /// How many attempts were made; 0 where the transaction was turned away before it began.
  public let attempts: Int
  /// From submission to the end.
  public let duration: Duration
  /// Of the last hop, as far as it got; nil where none was made.
  public let timings: TransferTimings?
  /// The request as the caller gave it.
  public let originalRequest: Request
  /// The request as the last hop sent it, with what stages and redirects made of it; nil where nothing was sent.
  public let issuedRequest: Request?

  init(
    id: TransactionID, requestID: String, response: Response?, error: TransactionError?, attempts: Int,
    duration: Duration, timings: TransferTimings?, originalRequest: Request, issuedRequest: Request?
  ) {
    self.id = id
    self.requestID = requestID
    self.response = response
    self.error = error
    self.attempts = attempts
    self.duration = duration
    self.timings = timings
    self.originalRequest = originalRequest
    self.issuedRequest = issuedRequest
  }

  /// The result of a transaction that was turned away before it began.
  public init(refused id: TransactionID, _ request: Request, _ error: TransactionError) {
    self.init(
      id: id, requestID: id.description, response: nil, error: error, attempts: 0, duration: .zero, timings: nil,
      originalRequest: request, issuedRequest: nil)
  }

  public var outcome: TransactionOutcome { TransactionOutcome(error) }
}

extension TransactionOutcome {
  init(_ error: TransactionError?) {
    guard let error else {
      self = .succeeded
      return
    }
    self = error.code == TransactionError.Code.cancelled && error.stage == nil ? .cancelled : .failed
  }

  var outcomeClass: OutcomeClass {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }
}
