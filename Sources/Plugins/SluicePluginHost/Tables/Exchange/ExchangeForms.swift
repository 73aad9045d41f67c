import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

// Finds which of the two forms of a message a function must use: native or document.
extension CalledExchange {
  // Each function first checks in place whether there is a document. The other steps are functions of another module.

  /// The document of the request, if it is current.
  @inline(__always)
  var requestDocument: LiveDocument? {
    guard exchange.requestForms.document != nil else { return nil }
    return currentDocument(of: .request)
  }

  @inline(__always)
  var responseDocument: LiveDocument? {
    guard exchange.responseForms.document != nil else { return nil }
    return currentDocument(of: .response)
  }

  @inline(never)
  private func currentDocument(of side: MessageSide) -> LiveDocument? {
    let form =
      side == .request ? exchange.requestForms.currentDocument : exchange.responseForms.currentDocument
    return form?.document as? LiveDocument
  }

  /// Drops the document before the native form changes, because the document would be out of date. The plugin may still
  /// use the document until its call returns.
  @inline(__always)
  func dropRequestView() {
    guard exchange.requestForms.document != nil else { return }
    dropView(&exchange.requestForms.document)
  }

  @inline(__always)
  func dropResponseView() {
    guard exchange.responseForms.document != nil else { return }
    dropView(&exchange.responseForms.document)
  }

  @inline(never)
  private func dropView(_ form: inout DocumentForm?) {
    if let document = form?.document { keep(document) }
    form = nil
  }

  /// Whether the call may change the response. It may if it is a response call, or if it has set the response itself.
  var writesResponse: Bool {
    switch phase {
    case .response: exchange.hasResponse
    case .request, .failure: exchange.hasResponse
    case .issue, .redirect, .challenge, .requestPiece, .responsePiece, .event, .informational, .posted: false
    }
  }
}
