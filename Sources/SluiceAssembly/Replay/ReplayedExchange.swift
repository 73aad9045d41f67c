package import SluicePipeline

/// How a recorded exchange went in a replay: what each stage did, and what came of it.
package struct ReplayedExchange: Sendable, Hashable {
  /// In their order.
  package var calls: [StageCall]
  package var attempts: Int
  /// Nil where the transaction succeeded.
  package var error: TransactionError?
  /// The response, as the changes from an empty message to it; empty without a response.
  package var response: [StageChange]

  package init(
    calls: [StageCall] = [], attempts: Int = 1, error: TransactionError? = nil, response: [StageChange] = []
  ) {
    self.calls = calls
    self.attempts = attempts
    self.error = error
    self.response = response
  }
}
