public import SluicePipeline

/// How a recorded exchange went in a replay: what each stage did, and what came of it.
public struct ReplayedExchange: Sendable, Hashable {
  /// In their order.
  public var calls: [StageCall]
  public var attempts: Int
  /// Nil where the transaction succeeded.
  public var error: TransactionError?
  /// The response, as the changes from an empty message to it; empty without a response.
  public var response: [StageChange]

  public init(
    calls: [StageCall] = [], attempts: Int = 1, error: TransactionError? = nil, response: [StageChange] = []
  ) {
    self.calls = calls
    self.attempts = attempts
    self.error = error
    self.response = response
  }
}
