import CSluice
import SluiceIDNA
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Method, URL and status.
enum ExchangeLine {
  static func getMethod(_ handle: OpaquePointer?, _ method: UnsafeMutablePointer<sluice_text>?) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let method else { return called.refuse(.invalidArgument, "method_get") }
    method.pointee = self.method(called)
    return Status.ok
  }

  static func method(_ called: CalledExchange) -> sluice_text {
    called.requestDocument.flatMap { member($0, "method") } ?? LentTexts.of(called).method
  }

  static func getURL(_ handle: OpaquePointer?, _ url: UnsafeMutablePointer<sluice_text>?) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard let url else { return called.refuse(.invalidArgument, "url_get") }
    url.pointee = called.requestDocument.flatMap { member($0, "url") } ?? LentTexts.of(called).url
    return Status.ok
  }

  static func setMethod(_ handle: OpaquePointer?, _ method: sluice_text) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard called.offers(.rewrite) else { return called.lacks(.rewrite, "method_set") }
    guard called.phase.writesRequest else { return called.refuse(.refusedWrite, "method_set") }
    guard let bytes = method.bytes else { return called.refuse(.invalidArgument, "method_set") }
    do { try Request.check(method: bytes.span) } catch {
      return called.refuse(.invalidArgument, "method_set: \(error)")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if let document = called.requestDocument {
      replace("method", of: document, by: JSONValue(text), called)
    } else {
      called.dropRequestView()
      called.exchange.requestForms.native.method = text
    }
    return Status.ok
  }

  static func setURL(_ handle: OpaquePointer?, _ url: sluice_text) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard called.offers(.rewrite) else { return called.lacks(.rewrite, "url_set") }
    guard called.phase.writesRequest else { return called.refuse(.refusedWrite, "url_set") }
    guard let text = url.string else { return called.refuse(.invalidArgument, "url_set") }
    do {
      let url = try HTTPURL(text, hosts: .idna)
      if let document = called.requestDocument {
        replace("url", of: document, by: JSONValue(url.string), called)
      } else {
        called.dropRequestView()
        called.exchange.requestForms.native.url = url
      }
      return Status.ok
    } catch { return called.refuse(.invalidArgument, "url_set: \(error)") }
  }

  static func getStatus(_ handle: OpaquePointer?) -> UInt32 {
    guard let called = CallContext.find(handle) else { return 0 }
    if let status = called.responseDocument?.json["status"]?.integer { return UInt32(clamping: status) }
    return UInt32(clamping: called.exchange.responseForms.native?.status ?? 0)
  }

  static func setStatus(_ handle: OpaquePointer?, _ status: UInt32) -> sluice_status {
    guard let called = CallContext.find(handle) else { return CallContext.misuse }
    guard called.writesResponse else { return called.refuse(.refusedWrite, "status_set") }
    guard (200...999).contains(status) else { return called.refuse(.invalidArgument, "status_set: \(status)") }
    if let document = called.responseDocument {
      replace("status", of: document, by: JSONValue(Int64(status)), called)
    } else {
      called.dropResponseView()
      called.exchange.responseForms.native?.status = Int(status)
    }
    return Status.ok
  }

  /// Lends a text of the document, without a copy.
  private static func member(_ document: LiveDocument, _ key: String) -> sluice_text? {
    document.json[key]?.withStringBytes { sluice_text($0) }
  }

  /// Replaces a value; the plugin may use the old one until its call returns.
  private static func replace(
    _ key: String, of document: LiveDocument, by value: JSONValue, _ called: CalledExchange
  ) {
    if let old = document.json[key] { called.keep(old) }
    document.json[key] = value
  }
}
