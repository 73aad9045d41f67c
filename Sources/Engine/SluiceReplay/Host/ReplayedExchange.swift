package import SluicePipeline

/// The result of a recorded exchange in a replay, and what each stage did.
package struct ReplayedExchange: Sendable, Hashable {
  /// The calls in their order.
  package var calls: [StageCall]
  package var attempts: Int
  /// Nil if the transaction succeeded.
  package var error: TransactionError?
  /// The response as a list of changes. The changes turn an empty message into the response. The list is empty if there
  /// is no response.
  package var response: [StageChange]
  /// The call-outs of all plugins since the end of the exchange before.
  package var callOuts: [ReplayedCallOut] = []
  /// The names of those that failed because there was no answer.
  package var unansweredCallOuts: [String] = []

  package init(
    calls: [StageCall] = [], attempts: Int = 1, error: TransactionError? = nil, response: [StageChange] = []
  ) {
    self.calls = calls
    self.attempts = attempts
    self.error = error
    self.response = response
  }
}

/// A call-out of a plugin in a replay.
package struct ReplayedCallOut: Sendable, Hashable {
  /// The method, and the URL without its query.
  package var name: String
  /// The URL and the headers of the request as a list of changes. The body is left out, because it is often a
  /// credential.
  package var request: [StageChange]

  package init(name: String, request: [StageChange] = []) {
    self.name = name
    self.request = request
  }
}
