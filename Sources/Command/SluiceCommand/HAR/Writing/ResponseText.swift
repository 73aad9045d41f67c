import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer

/// The response of an entry. If there is no response, the status is 0, as browsers write it.
enum ResponseText {
  static func add(_ hop: ArchivedHop, _ mask: SecretMask, to object: inout JSONText) {
    let response = hop.response
    let headers = response?.headers ?? HeaderFields()
    object.number("status", response?.status ?? 0)
    object.text("statusText", reason(of: response))
    object.text("httpVersion", response == nil ? "" : EntryText.version(of: hop))
    object.array("cookies") { CookieText.add(received: headers[values: "set-cookie"], at: hop.began, to: &$0) }
    object.pairs("headers", mask.fields(headers).map { NamedValue($0.name, $0.value) })
    object.object("content") { addContent(hop, headers, to: &$0) }
    object.text("redirectURL", target(of: response).map { mask.value($0, ofHeader: "location") } ?? "")
    object.number("headersSize", -1)
    object.number("bodySize", response == nil ? -1 : hop.timings.bytesReceived)
    if let error = hop.error { add(error, to: &object) }
  }

  /// The usual reason phrase of the status, because a response does not store the phrase that it had; empty for HTTP/2,
  /// which has no reason phrase.
  private static func reason(of response: Response?) -> String {
    guard let response, response.version != .http2, response.version != .http3 else { return "" }
    return ServerLibrary.reason(of: response.status)
  }

  private static func target(of response: Response?) -> String? {
    guard let response, (300..<400).contains(response.status) else { return nil }
    return response.headers["location"]
  }

  private static func addContent(_ hop: ArchivedHop, _ headers: HeaderFields, to content: inout JSONText) {
    let (size, received) = (hop.responseBody.byteCount, hop.timings.bytesReceived)
    let (bytes, comment) = hop.responseBody.shown()
    content.number("size", size)
    if headers.contains("content-encoding"), size > 0 { content.number("compression", size - received) }
    content.text("mimeType", headers["content-type"] ?? "")
    let text = ContentText(bytes)
    if !bytes.isEmpty { content.text("text", text.text) }
    if text.isEncoded { content.text("encoding", "base64") }
    if let comment { content.text("comment", comment) }
  }

  private static func add(_ error: TransactionError, to object: inout JSONText) {
    object.object("_error") { member in
      member.text("code", error.code.rawValue)
      member.text("message", error.message)
    }
  }
}
