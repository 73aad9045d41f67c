import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceRecords

// The two forms of a message, and which of them a function must use.
extension CalledExchange {
  /// The document of the request, if it is authoritative.
  @inline(__always)
  var requestTruth: LiveDocument? {
    guard exchange.requestDocument != nil else { return nil }
    return documentTruth(.request)
  }

  @inline(__always)
  var responseTruth: LiveDocument? {
    guard exchange.responseDocument != nil else { return nil }
    return documentTruth(.response)
  }

  @inline(never)
  private func documentTruth(_ side: MessageSide) -> LiveDocument? {
    let form = side == .request ? exchange.requestDocument : exchange.responseDocument
    guard let form, form.isTruth else { return nil }
    return form.document as? LiveDocument
  }

  /// Called before the native form changes: a document that was only read would be out of date. The plugin may still
  /// use it until its call returns.
  @inline(__always)
  func dropRequestView() {
    guard exchange.requestDocument != nil else { return }
    dropView(&exchange.requestDocument)
  }

  @inline(__always)
  func dropResponseView() {
    guard exchange.responseDocument != nil else { return }
    dropView(&exchange.responseDocument)
  }

  @inline(never)
  private func dropView(_ form: inout DocumentForm?) {
    if let document = form?.document { keep(document) }
    form = nil
  }

  /// Whether the call may change the response: in a response call, or if the call itself has set it.
  var writesResponse: Bool {
    switch phase {
    case .response: exchange.hasResponse
    case .request, .failure: exchange.hasResponse
    case .issue, .redirect, .challenge, .requestPiece, .responsePiece, .event, .informational, .posted: false
    }
  }
}
