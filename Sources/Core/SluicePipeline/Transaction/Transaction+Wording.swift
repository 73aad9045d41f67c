import SluiceMessages

// Texts for messages, which describe the request of the current hop and its answer.
extension Transaction {
  /// Keeps a message readable, even if a stage or a redirect has made the URL very long.
  private static let shownURLBytes = 2048

  /// The whole URL without user, password and fragment; the values of secret query parameters are hidden.
  var shownURL: String {
    let url = pipeline.settings.secrets.url(requestForms.native.url.string)
    return PlainText.cut(url, limitBytes: Self.shownURLBytes)
  }

  /// Method and URL.
  var shownRequest: String { "\(requestForms.native.method) \(shownURL)" }

  /// The error for a status that is not accepted.
  var statusError: TransactionError {
    let status = responseStatus
    let note = retryNote.map { "; not repeated: \($0)" } ?? ""
    if let stage = machine.answeringStage {
      return TransactionError(
        code: .status, message: "it answered \(status) to \(shownRequest)\(note)", stage: stage)
    }
    let change = thisHop.wireStatus == status ? "" : ", which a stage changed to \(status)"
    return TransactionError(
      code: .status,
      message: "the server answered \(thisHop.wireStatus) to \(shownRequest)\(change)\(note)")
  }

  /// A failure of the hop, with the whole URL.
  func failure(of error: TransportError) -> TransactionError { TransactionError(error.naming(shownURL)) }
}
