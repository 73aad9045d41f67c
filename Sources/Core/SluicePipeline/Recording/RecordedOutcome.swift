package import SluiceMessages

/// The outcome of a transaction, as far as it says whether the transaction succeeded.
package struct RecordedOutcome: Sendable, Hashable {
  /// The status of the response; nil without a response.
  package var status: Int?
  /// The code of the error; nil if the transaction succeeded.
  package var error: ErrorCode?
  /// The stage that the error names.
  package var stage: String?

  package init(status: Int? = nil, error: ErrorCode? = nil, stage: String? = nil) {
    self.status = status
    self.error = error
    self.stage = stage
  }

  package init(status: Int?, _ error: TransactionError?) {
    self.init(status: status, error: error?.code, stage: error?.stage)
  }
}
