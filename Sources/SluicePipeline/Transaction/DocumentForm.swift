public import SluiceMessages

/// The JSON document of a message, made by whoever knows JSON, on behalf of a stage.
public protocol MessageDocument: AnyObject {
  /// Turns the document back into a request; what the document does not hold is taken from `original`.
  func request(from original: Request) throws(MessageError) -> Request
  /// Turns the document back into a response.
  func response(from original: Response) throws(MessageError) -> Response
}

/// A document beside the native form of a message, and which of the two is the truth.
public struct DocumentForm {
  public let document: any MessageDocument
  /// Set once a stage asked for it to write; from then on the native form is behind until the phase ends.
  public var isTruth: Bool
  /// The stage that wrote last, who is at fault when the document turns out invalid.
  public var lastWriter: String

  public init(document: any MessageDocument, isTruth: Bool, lastWriter: String) {
    self.document = document
    self.isTruth = isTruth
    self.lastWriter = lastWriter
  }
}

extension Exchange {
  /// Brings the native request up to date and lets its document go. A document that was only read stays.
  public func settleRequest() throws(TransactionError) {
    if requestDocument != nil { try settleRequestDocument() }
  }

  // Apart from the question, which every transaction asks and next to none affirms.
  @inline(never)
  private func settleRequestDocument() throws(TransactionError) {
    guard let form = requestDocument, form.isTruth else { return }
    requestDocument = nil
    do { nativeRequest = try form.document.request(from: nativeRequest) } catch { throw Self.blame(form, error) }
  }

  public func settleResponse() throws(TransactionError) {
    if responseDocument != nil { try settleResponseDocument() }
  }

  @inline(never)
  private func settleResponseDocument() throws(TransactionError) {
    guard let form = responseDocument, form.isTruth, let response = nativeResponse else { return }
    responseDocument = nil
    do { nativeResponse = try form.document.response(from: response) } catch { throw Self.blame(form, error) }
    if case .empty? = nativeResponse?.body {} else { hasOwnResponseBody = true }
  }

  /// Lets a view of the response go that was made before the body was there. A stage that was lent it keeps it until its
  /// call returns.
  func dropResponseView() {
    guard responseDocument != nil, responseDocument?.isTruth == false else { return }
    responseDocument = nil
  }

  private static func blame(_ form: DocumentForm, _ error: MessageError) -> TransactionError {
    TransactionError(
      code: TransactionError.Code.stageFault, message: "it left an invalid document: \(error)", stage: form.lastWriter)
  }
}
