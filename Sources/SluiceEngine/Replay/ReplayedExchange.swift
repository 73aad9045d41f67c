package import SluicePipeline
package import SluiceRecords

/// The outcome of a recorded exchange in a replay: what each stage did, and the result.
package struct ReplayedExchange: Sendable, Hashable {
  /// The calls in their order.
  package var calls: [StageCall]
  package var attempts: Int
  /// Nil if the transaction succeeded.
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
