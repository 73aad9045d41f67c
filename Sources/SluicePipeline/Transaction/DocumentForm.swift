package import SluiceMessages

/// The JSON document of a message; a module that knows JSON creates it for a stage.
package protocol MessageDocument: AnyObject {
  /// Converts the document back into a request; parts that the document does not have come from `original`.
  func request(from original: Request) throws(MessageError) -> Request
  /// Converts the document back into a response.
  func response(from original: Response) throws(MessageError) -> Response
  /// The method and the URL of the document, read without converting anything else.
  func target(from original: Request) throws(MessageError) -> RequestTarget
  /// Why the document could not be converted back or read; nil while no failure is known.
  var failure: MessageError? { get }
}

/// The parts of a request that a ``StageMatch`` is compared with.
package struct RequestTarget: Sendable, Hashable {
  package var method: String
  package var url: HTTPURL

  package init(method: String, url: HTTPURL) {
    self.method = method
    self.url = url
  }
}

/// The document form of a message, and whether it or the native form is authoritative.
package struct DocumentForm {
  package let document: any MessageDocument
  /// Set when a stage asks for the document for writing; from then on the native form is out of date until the phase
  /// ends.
  package var isTruth: Bool
  /// The stage that wrote last; it is at fault if the document turns out to be invalid.
  package var lastWriter: String

  package init(document: any MessageDocument, isTruth: Bool, lastWriter: String) {
    self.document = document
    self.isTruth = isTruth
    self.lastWriter = lastWriter
  }
}

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

  /// Releases a view of the response that was made before the body arrived. A stage that has borrowed it keeps it until
  /// its call returns.
  func dropResponseView() {
    guard responseDocument != nil, responseDocument?.isTruth == false else { return }
    responseDocument = nil
  }

  /// Whether a match holds for the current request, in either form; converts nothing.
  func isMatched(by match: StageMatch) throws(TransactionError) -> Bool {
    guard let form = requestDocument, form.isTruth else { return match.matches(nativeRequest) }
    do { return match.matches(try form.document.target(from: nativeRequest)) } catch { throw Self.blame(form, error) }
  }

  /// The error if a document turned out to be invalid during a stage's call, independent of the stage's answer.
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
      code: TransactionError.Code.stageFault, message: "it left an invalid document: \(error)", stage: form.lastWriter)
  }
}
