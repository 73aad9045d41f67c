import CSluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The function `json`: the live document of a message.
enum ExchangeDocument {
  private static let read = UInt32(SLUICE_JSON_READ)
  private static let write = UInt32(SLUICE_JSON_WRITE)
  private static let body = UInt32(SLUICE_JSON_BODY)

  /// The document that the plugin borrows. It lives at least until the call returns, even if the exchange releases it
  /// earlier.
  static func lend(_ handle: OpaquePointer?, _ side: sluice_side, _ flags: UInt32) -> LiveDocument? {
    guard let called = CallContext.find(handle) else { return nil }
    guard side < 2, flags & (read | write) != 0 else {
      _ = called.refuse(.invalidArgument, "json: side \(side), flags \(flags)")
      return nil
    }
    guard called.offers(.document) else {
      _ = called.lacks(.document, "json")
      return nil
    }
    guard flags & body == 0 || called.offersBody(of: side) else {
      _ = called.lacks(.body(of: side), "json with SLUICE_JSON_BODY")
      return nil
    }
    guard called.phase != .issue, isAllowed(called, side, flags) else {
      _ = called.refuse(.refusedWrite, "json in this call")
      return nil
    }
    guard let document = side == 0 ? request(called, flags) : response(called, flags) else { return nil }
    // The call keeps the document, because the exchange can settle or replace it before the call returns.
    called.keep(document)
    return document
  }

  private static func isAllowed(_ called: CalledExchange, _ side: sluice_side, _ flags: UInt32) -> Bool {
    guard flags & write != 0 else { return true }
    if side == 0 { return called.phase.writesRequest }
    // Without a response, asking for its document is no violation: the function just returns none.
    return called.writesResponse || called.exchange.responseForms.native == nil
  }

  private static func request(_ called: CalledExchange, _ flags: UInt32) -> LiveDocument? {
    let exchange = called.exchange
    let present = exchange.requestForms.document?.document as? LiveDocument
    // The exchange stores a failure of `settleRequest`, which then fails the transaction.
    if present == nil { guard (try? exchange.settleRequest()) != nil else { return nil } }
    guard present?.isLendable(to: called.call.pointee.name) ?? true else { return nil }
    if let present { BodyDocument.nameMediaType(in: present.json, original: exchange.requestForms.native.headers) }
    let document = present ?? LiveDocument(RequestDocument.make(exchange.requestForms.native, body: .none))
    document.isLineFixed = !called.offers(.rewrite)
    document.isBodyFixed = !called.offersBody(of: 0)
    fill(document, exchange.requestForms.native.body, flags, exchange)
    keep(document, in: &exchange.requestForms.document, called, flags)
    return document
  }

  private static func response(_ called: CalledExchange, _ flags: UInt32) -> LiveDocument? {
    let exchange = called.exchange
    let present = exchange.responseForms.document?.document as? LiveDocument
    if present == nil { guard (try? exchange.settleResponse()) != nil else { return nil } }
    guard present?.isLendable(to: called.call.pointee.name) ?? true else { return nil }
    guard let response = exchange.responseForms.native else { return nil }
    if let present { BodyDocument.nameMediaType(in: present.json, original: response.headers) }
    let document = present ?? LiveDocument(ResponseDocument.make(response, body: .none))
    document.isBodyFixed = !called.offersBody(of: 1)
    fill(document, response.body, flags, exchange)
    keep(document, in: &exchange.responseForms.document, called, flags)
    return document
  }

  private static func fill(_ document: LiveDocument, _ native: Body, _ flags: UInt32, _ exchange: Exchange) {
    guard flags & body != 0 else { return }
    // A body that was removed from the document after it was filled is not added again.
    let isEmptied = document.isBodyFilled && document.json["body"] == nil
    if !isEmptied {
      let text = BodyDocument.fill(document.json, from: native, .parsed, fileLimitBytes: exchange.heldBodyBytes)
      if let text { document.parsedBody = text }
    }
    document.isBodyFilled = true
  }

  private static func keep(
    _ document: LiveDocument, in form: inout DocumentForm?, _ called: CalledExchange, _ flags: UInt32
  ) {
    let stage = called.call.pointee.instance.name
    if form == nil { form = DocumentForm(document: document, isCurrent: false, lastWriter: stage) }
    guard flags & write != 0 else { return }
    form?.isCurrent = true
    form?.lastWriter = stage
    document.wasLent(to: called.call.pointee.instance.hostHandle, in: called.call.pointee.name)
  }
}
