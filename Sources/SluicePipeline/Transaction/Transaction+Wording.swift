import SluiceMessages

// How messages name the request of the current hop, and who answered it.
extension Transaction {
  /// A message stays readable whatever a stage or a redirect made of the URL.
  private static let shownURLBytes = 2048

  /// The whole URL without user, password and fragment; the values of secret query parameters are hidden.
  var shownURL: String {
    let url = pipeline.settings.secrets.url(exchange.nativeRequest.url.string)
    return PlainText.cut(url, limitBytes: Self.shownURLBytes)
  }

  /// Method and URL.
  var shownRequest: String { "\(exchange.nativeRequest.method) \(shownURL)" }

  /// The status as the error that it is unless it is accepted.
  var statusError: TransactionError {
    let status = exchange.responseStatus
    let note = retryNote.map { "; not repeated: \($0)" } ?? ""
    if let stage = machine.answeringStage {
      return TransactionError(
        code: .status, message: "it answered \(status) to \(shownRequest)\(note)", stage: stage)
    }
    let change = wireStatus == status ? "" : ", and a stage made \(status) of it"
    return TransactionError(
      code: .status,
      message: "the server answered \(wireStatus) to \(shownRequest)\(change)\(note)")
  }

  /// A failure of the hop, told with the whole URL.
  func failure(of error: TransportError) -> TransactionError { TransactionError(error.naming(shownURL)) }
}
