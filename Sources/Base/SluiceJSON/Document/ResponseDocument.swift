package import SluiceMessages

/// A response as a JSON document:
///
///     {"status": 200, "headers": { fields }, "body": { body }, "trailers": { fields }}
///
/// `trailers` is present only if the response has trailers.
package enum ResponseDocument {
  private static let keys = ["status", "headers", "body", "trailers"]

  /// A new document.
  package static func make(_ response: Response, body filling: BodyDocument.Filling = .plain) -> JSONValue {
    let document = JSONValue.object()
    document["status"] = JSONValue(Int64(response.status))
    document["headers"] = HeadersDocument.make(response.headers)
    BodyDocument.fill(document, from: response.body, filling)
    if !response.trailers.isEmpty { document["trailers"] = HeadersDocument.make(response.trailers) }
    return document
  }

  /// Reads a response document. Only `status` is required. A `json` body without a content type gets
  /// `application/json`.
  package static func read(_ document: JSONValue, rules: DocumentRules) throws(MessageError) -> Response {
    let part = try DocumentPart(document, rules: rules)
    try part.allowKeys(keys)
    var headers = try RequestDocument.headers(part, "headers")
    BodyDocument.nameMediaType(of: document, in: &headers)
    return Response(
      status: try status(part), headers: headers,
      body: try RequestDocument.body(part, original: .empty) ?? .empty,
      trailers: try RequestDocument.headers(part, "trailers"))
  }

  /// Updates a response from its document, as ``RequestDocument/update(_:from:bodyWasFilled:added:hosts:)`` does.
  package static func update(
    _ response: inout Response, from document: JSONValue, bodyWasFilled: Bool, parsedBody: [UInt8]? = nil,
    added: HeaderFields.Marks = .addedByStage
  ) throws(MessageError) {
    let part = try DocumentPart(document, rules: .live)
    var changed = response
    changed.status = try status(part)
    changed.headers = try RequestDocument.headers(part, "headers")
    changed.headers.takeMarks(from: response.headers, added: added)
    BodyDocument.nameMediaType(of: part.json, in: &changed.headers, original: response.headers)
    changed.trailers = try RequestDocument.headers(part, "trailers")
    changed.trailers.takeMarks(from: response.trailers, added: added)
    changed.body = try RequestDocument.body(
      part, replacing: response.body, wasFilled: bodyWasFilled, parsed: parsedBody)
    response = changed
  }

  private static func status(_ part: DocumentPart) throws(MessageError) -> Int {
    guard let status = try part.integer("status") else {
      throw part.failure("missing key \"status\": expected an integer from 200 to 999")
    }
    guard (200...999).contains(status) else {
      throw part.failure(at: "status", "expected an integer from 200 to 999, found \(status)")
    }
    return status
  }
}
