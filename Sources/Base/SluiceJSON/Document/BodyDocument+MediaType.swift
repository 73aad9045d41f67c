package import SluiceMessages

// A `json` body says that the content is JSON. The message needs a `content-type` that says this too: without it, the
// stages and the receiver do not treat the body as JSON.
extension BodyDocument {
  static let jsonMediaType = "application/json"

  /// Adds `content-type: application/json` to the fields of a document with a `json` body, unless they have a content
  /// type.
  ///
  /// - Parameter original: the fields of the message before stages changed its document. A content type that a stage
  ///   has removed is not added again.
  static func nameMediaType(
    of document: JSONValue, in headers: inout HeaderFields, original: HeaderFields = HeaderFields()
  ) {
    guard document["body"]?["json"] != nil, !original.contains("content-type") else { return }
    headers.nameMediaType(jsonMediaType)
  }

  /// Adds the content type to a live document, for the stages that see the document before it becomes a message again.
  /// Headers that are not an object stay unchanged, and are refused later.
  package static func nameMediaType(in document: JSONValue, original: HeaderFields) {
    guard document["body"]?["json"] != nil, !original.contains("content-type"),
      document["headers"]?.isObject != false
    else { return }
    let headers = DocumentHeaders(document)
    if headers["content-type"] == nil { headers["content-type"] = jsonMediaType }
  }
}
