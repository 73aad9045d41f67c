import SluiceJSON
import SluiceMessages

/// The body of an archived request.
struct ArchivedBody {
  /// The value of `body` in a request document: an object with `text` or `base64`.
  let document: JSONValue
  let mediaType: String

  /// Nil for a request without a body.
  /// - Parameter request: the member `request` of the entry.
  init?(_ request: ArchivePart) throws(ArchiveMistake) {
    let data = request["postData"]
    guard let data, let (text, mediaType) = try Self.content(data) else {
      // The request cannot be sent without its body, because it would be a different request.
      guard let size = request["bodySize"]?.json.integer, size > 0 else { return nil }
      throw ArchiveMistake(message: "\(request.path).postData: the archive does not have the \(size) bytes of the body")
    }
    self.mediaType = mediaType
    if try Self.isEncoded(data) {
      guard Base64.decode(text.utf8.span) != nil else {
        throw data.failure("text is not base64, although its encoding says so")
      }
      document = ["base64": JSONValue(text)]
      return
    }
    guard !FormText.isForm(mediaType) || !FormText.hasHiddenValue(text) else {
      throw data.failure("a secret in it was replaced by \(Redactor.placeholder); put the secret back")
    }
    // A text in a line of input must not contain U+0000.
    let hasNUL = text.utf8.contains(0)
    document =
      hasNUL
      ? ["base64": JSONValue(String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self))]
      : ["text": JSONValue(text)]
  }

  /// Whether the text is Base64. The specification has no member that says so. Programs use one of two members.
  private static func isEncoded(_ data: ArchivePart) throws(ArchiveMistake) -> Bool {
    let (own, common) = (try data.optionalString("_encoding"), try data.optionalString("encoding"))
    return own == "base64" || common == "base64"
  }

  /// Nil if there is no content; some programs write an empty text for each GET.
  private static func content(
    _ data: ArchivePart
  ) throws(ArchiveMistake) -> (text: String, mediaType: String)? {
    guard data.json.isObject else { throw data.failure("expected an object, found \(data.json.kind.rawValue)") }
    let type = try data.optionalString("mimeType") ?? ""
    if let text = try data.optionalString("text"), !text.isEmpty { return (text, type) }
    let pairs = try data.pairs("params")
    guard !pairs.isEmpty else { return nil }
    guard type.isEmpty || FormText.isForm(type) else {
      throw data.failure("it has only params, from which a body of \(PlainText.quote(type)) cannot be made")
    }
    return (FormText.text(pairs.map(\.pair)), type.isEmpty ? FormText.mediaType : type)
  }
}
