import Sluice
import SluiceJSON
import SluiceMessages

/// The request of an entry.
enum RequestText {
  static func add(_ hop: ArchivedHop, _ mask: SecretMask, to object: inout JSONText) {
    let fields = SentFields(hop, mask)
    // The user info of a URL is not sent as part of the URL.
    let url = mask.url(hop.request.url.withoutUserInfo)
    object.text("method", hop.request.method)
    object.text("url", url)
    object.text("httpVersion", fields.version ?? EntryText.version(of: hop))
    object.array("cookies") { CookieText.add(sent: hop.request.headers[values: "cookie"], to: &$0) }
    object.pairs("headers", fields.list)
    object.pairs("queryString", hop.request.url.query == nil ? [] : FormText.pairs(query(of: url)))
    addBody(hop, mask, to: &object)
    object.number("headersSize", fields.byteCount ?? -1)
    object.number("bodySize", hop.requestBody.byteCount)
  }

  private static func query(of url: String) -> String {
    url.firstIndex(of: "?").map { String(url[$0...].dropFirst()) } ?? ""
  }

  /// The format calls `text` and `params` alternatives. Browsers write both, and readers expect `text`.
  private static func addBody(_ hop: ArchivedHop, _ mask: SecretMask, to object: inout JSONText) {
    guard hop.requestBody.byteCount > 0 else { return }
    let type = hop.request.headers["content-type"] ?? ""
    let (bytes, comment) = hop.requestBody.shown()
    object.object("postData") { data in
      data.text("mimeType", type)
      if !bytes.isEmpty { addContent(bytes, isForm: FormText.isForm(type), mask, to: &data) }
      if let comment { data.text("comment", comment) }
    }
  }

  private static func addContent(_ bytes: [UInt8], isForm: Bool, _ mask: SecretMask, to data: inout JSONText) {
    let text = ContentText(bytes)
    // The format has the member `encoding` only in responses.
    if text.isEncoded { data.text("_encoding", "base64") }
    guard isForm, !text.isEncoded else { return data.text("text", text.text) }
    let shown = FormText.masked(text.text, mask)
    data.pairs("params", FormText.pairs(shown))
    data.text("text", shown)
  }
}
