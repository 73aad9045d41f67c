import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

// The two forms of a message: which of them a function has to act on.
extension CalledExchange {
  /// The document of the request where it is the truth.
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

  /// Before the native form changes: a document that was only read would be wrong from here on. The plugin may still
  /// hold it until its call returns.
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

  /// Whether the response may be changed: where it is the call's own, or was set by it.
  var writesResponse: Bool {
    switch phase {
    case .response: exchange.hasResponse
    case .request, .failure: exchange.hasResponse
    case .issue, .redirect, .challenge, .requestPiece, .responsePiece, .event, .informational, .posted: false
    }
  }
}
