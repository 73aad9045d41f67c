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
    let (answerer, demand) = proxyWords ?? ("the server", "")
    return TransactionError(
      code: .status,
      message: "\(answerer) answered \(thisHop.wireStatus) to \(shownRequest)\(change)\(demand)\(note)")
  }

  /// The words for a 407 response of a proxy that gets the requests itself; nil for other responses.
  private var proxyWords: (answerer: String, demand: String)? {
    guard thisHop.wireStatus == 407, environment.transport.usesProxy(for: requestForms.native.url.origin) else {
      return nil
    }
    let fields = responseForms.native?.headers ?? HeaderFields()
    return ("the proxy", ": " + Challenge.proxyDemand(Challenge.challenges(in: fields, "proxy-authenticate")))
  }

  /// A failure of the hop, with the whole URL.
  func failure(of error: TransportError) -> TransactionError { TransactionError(error.naming(shownURL)) }
}
