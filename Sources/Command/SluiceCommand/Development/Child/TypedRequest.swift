import SluiceIDNA
import SluiceJSON
import SluiceMessages

/// A request in one of the forms that a user can type: a document, a URL, or a method and a URL.
struct TypedRequest {
  let request: Request

  /// The `id` of a request document, which its result carries, as in `run`. It can be read even if the rest of the
  /// document is invalid. Nil if the text has none.
  static func id(of text: String) -> JSONValue? {
    guard text.drop(while: \.isWhitespace).first == "{" else { return nil }
    let document = Array(text.utf8).withUnsafeBytes { try? RequestLine.document($0) }
    return document.flatMap(ResultID.value)
  }

  /// - Parameter base: the base for a URL that has no scheme.
  init(_ text: String, from base: HTTPURL?) throws(MessageError) {
    request = try Array(text.utf8).withUnsafeBytes { bytes in
      Result { () throws(MessageError) in try Self.request(text, bytes, from: base) }
    }.get()
  }

  /// - Parameter bytes: the text as UTF-8.
  private static func request(
    _ text: String, _ bytes: UnsafeRawBufferPointer, from base: HTTPURL?
  ) throws(MessageError) -> Request {
    guard text.drop(while: \.isWhitespace).first == "{" else {
      let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let url = words.last, words.count <= 2 else {
        throw MessageError(.invalidDocument, "line", "expected a URL, a method and a URL, or a request document")
      }
      let document: JSONValue = ["url": JSONValue(url)]
      if words.count == 2 { document["method"] = words.first.map { JSONValue($0) } }
      return try RequestLine(completed(document, base), hosts: .idna).request
    }
    return try RequestLine(completed(RequestLine.document(bytes), base), text: bytes, hosts: .idna).request
  }

  private static func completed(_ document: JSONValue, _ base: HTTPURL?) throws(MessageError) -> JSONValue {
    if let base, let url = document["url"]?.string, !RelativeReference.hasScheme(url) {
      document["url"] = JSONValue(try RelativeReference.resolve(url, against: base, hosts: .idna).string)
    }
    return document
  }
}
