import SluiceMessages

// Which of the two forms of a message is current: the native form or the document.
extension Exchange {
  /// Updates the native request from its document and drops the document. A document that was only read stays. An
  /// invalid document stays too, because the transaction must not continue with the earlier request.
  package func settleRequest() throws(TransactionError) {
    if requestDocument != nil { try settleRequestDocument() }
  }

  // Not inlined: every transaction checks whether there is a document, but almost none has one.
  @inline(never)
  private func settleRequestDocument() throws(TransactionError) {
    guard let form = requestDocument, form.isTruth else { return }
    do { nativeRequest = try form.document.request(from: nativeRequest) } catch { throw Self.blame(form, error) }
    requestDocument = nil
  }

  package func settleResponse() throws(TransactionError) {
    if responseDocument != nil { try settleResponseDocument() }
  }

  @inline(never)
  private func settleResponseDocument() throws(TransactionError) {
    guard let form = responseDocument, form.isTruth, let response = nativeResponse else { return }
    do { nativeResponse = try form.document.response(from: response) } catch { throw Self.blame(form, error) }
    responseDocument = nil
    if case .empty? = nativeResponse?.body {} else { hasOwnResponseBody = true }
  }

  /// Releases a view of the response that was made before the body arrived. A stage that has borrowed the view keeps it
  /// until the call of the stage returns.
  func dropResponseView() {
    guard responseDocument != nil, responseDocument?.isTruth == false else { return }
    responseDocument = nil
  }

  /// Whether a match holds for the current request. Reads the form that is current, and converts nothing.
  func isMatched(by match: StageMatch) throws(TransactionError) -> Bool {
    guard let form = requestDocument, form.isTruth else { return match.matches(nativeRequest) }
    do { return match.matches(try form.document.target(from: nativeRequest)) } catch { throw Self.blame(form, error) }
  }

  /// The error if a document turned out to be invalid during a stage's call. It counts no matter what the stage
  /// answered.
  var documentFailure: TransactionError? {
    guard requestDocument != nil || responseDocument != nil else { return nil }
    return Self.failure(of: requestDocument) ?? Self.failure(of: responseDocument)
  }

  @inline(never)
  private static func failure(of form: DocumentForm?) -> TransactionError? {
    guard let form, form.isTruth, let failure = form.document.failure else { return nil }
    return blame(form, failure)
  }

  private static func blame(_ form: DocumentForm, _ error: MessageError) -> TransactionError {
    TransactionError(
      code: .stageFault, message: "it left an invalid document: \(error)", stage: form.lastWriter)
  }
}
