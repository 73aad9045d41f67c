import SluiceMessages

extension Exchange {
  package func settleRequest() throws(TransactionError) { try requestForms.settle() }

  package func settleResponse() throws(TransactionError) {
    guard try responseForms.settle() else { return }
    if case .empty? = responseForms.native?.body {} else { hasOwnResponseBody = true }
  }

  /// The error if a document turned out to be invalid during a stage's call. It counts no matter what the stage
  /// answered.
  var documentFailure: TransactionError? {
    guard requestForms.document != nil || responseForms.document != nil else { return nil }
    return failureOfDocuments
  }

  @inline(never)
  private var failureOfDocuments: TransactionError? {
    requestForms.document?.failure ?? responseForms.document?.failure
  }
}
