import SluiceIDNA
import SluiceJSON
import SluiceMessages

/// A request in one of the forms that a user can type: a document, a URL, or a method and a URL.
struct TypedRequest {
  let request: Request

  /// - Parameter base: the base for a URL that has no scheme.
  init(_ text: String, from base: HTTPURL?) throws(MessageError) {
    let document: JSONValue
    if text.drop(while: \.isWhitespace).first == "{" {
      do { document = try JSONValue(parsing: text.utf8, options: .rejectDuplicates) } catch {
        throw MessageError(.invalidDocument, "column \(error.column ?? 1)", "not JSON: \(error.message)")
      }
    } else {
      let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
      guard let url = words.last, words.count <= 2 else {
        throw MessageError(.invalidDocument, "line", "expected a URL, a method and a URL, or a request document")
      }
      document = ["url": JSONValue(url)]
      if words.count == 2 { document["method"] = words.first.map { JSONValue($0) } }
    }
    if let base, let url = document["url"]?.string, !RelativeReference.hasScheme(url) {
      document["url"] = JSONValue(try RelativeReference.resolve(url, against: base, hosts: .idna).string)
    }
    request = try RequestLine(document, hosts: .idna).request
  }
}
