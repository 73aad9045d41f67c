package import SluiceMessages

/// A request as a JSON document:
///
///     {"method": "POST", "url": "https://…", "headers": { fields }, "body": { body }, "trailers": { fields }}
///
/// `trailers` is present only if the request has trailers.
///
/// The document contains everything of ``HeaderFields`` and ``Body`` except the marks of fields and a streamed body;
/// ``update(_:from:bodyWasFilled:added:hosts:)`` keeps the marks and the streamed body.
package enum RequestDocument {
  static let keys = ["method", "url", "headers", "body", "trailers"]

  /// A new document.
  package static func make(_ request: Request, body filling: BodyDocument.Filling = .plain) -> JSONValue {
    let document = JSONValue.object()
    document["method"] = JSONValue(request.method)
    document["url"] = JSONValue(request.url.string)
    document["headers"] = HeadersDocument.make(request.headers)
    BodyDocument.fill(document, from: request.body, filling)
    if request.hasTrailers { document["trailers"] = HeadersDocument.make(request.trailers) }
    return document
  }

  /// Reads a request document. Only `url` is required; the default method is GET. A `json` body without a content type
  /// gets `application/json`.
  /// - Parameter hosts: converts a non-ASCII host in `url`; without an encoder such a host is refused.
  package static func read(
    _ document: JSONValue, rules: DocumentRules, hosts: HostEncoder? = nil
  ) throws(MessageError) -> Request {
    let part = try DocumentPart(document, rules: rules)
    try part.allowKeys(keys)
    return try read(part, hosts)
  }

  /// - Parameter spelled: a text for the `json` of the body, which is sent if it has the same value.
  static func read(
    _ part: DocumentPart, _ hosts: HostEncoder?, spelled: [UInt8]? = nil
  ) throws(MessageError) -> Request {
    guard let text = try part.string("url") else {
      throw part.failure("missing key \"url\": expected an absolute http or https URL")
    }
    let url = try HTTPURL(text, hosts: hosts)
    let method = try part.string("method") ?? "GET"
    var headers = try headers(part, "headers")
    BodyDocument.nameMediaType(of: part.json, in: &headers)
    let body = try body(part, original: .empty, parsed: spelled) ?? .empty
    var request = Request(method: method, url: url, headers: headers, body: body)
    if part.json["trailers"] != nil { request.trailers = try Self.headers(part, "trailers") }
    try request.validate()
    return request
  }

  /// Updates a request from the document that was made from it and that stages may have changed.
  ///
  /// Unknown keys are ignored. If the document is no longer a valid request, this fails and does not change the
  /// request.
  /// - Parameters:
  ///   - bodyWasFilled: whether the body was put into the document. If it was not, a missing `body` does not change the
  ///     request's body.
  ///   - parsedBody: the text that became the `json` of the body, as ``BodyDocument/fill(_:from:_:)`` returned it.
  ///   - added: the marks of new fields.
  ///   - hosts: as for ``read(_:rules:hosts:)``.
  package static func update(
    _ request: inout Request, from document: JSONValue, bodyWasFilled: Bool, parsedBody: [UInt8]? = nil,
    added: HeaderFields.Marks = .addedByStage, hosts: HostEncoder? = nil
  ) throws(MessageError) {
    let part = try DocumentPart(document, rules: .live)
    var changed = request
    (changed.method, changed.url) = try target(part, from: request, hosts)
    changed.headers = try headers(part, "headers")
    try changed.headers.validateHost()
    changed.headers.takeMarks(from: request.headers, added: added)
    BodyDocument.nameMediaType(of: part.json, in: &changed.headers, original: request.headers)
    changed.body = try body(part, replacing: request.body, wasFilled: bodyWasFilled, parsed: parsedBody)
    if request.hasTrailers || part.json["trailers"] != nil {
      changed.trailers = try trailers(part, replacing: request.trailers, added)
    }
    request = changed
  }

  /// Reads only the method and the URL of a document that was made from a request.
  package static func target(
    of document: JSONValue, from original: Request, hosts: HostEncoder? = nil
  ) throws(MessageError) -> (method: String, url: HTTPURL) {
    try target(DocumentPart(document, rules: .live), from: original, hosts)
  }

  private static func target(
    _ part: DocumentPart, from original: Request, _ hosts: HostEncoder?
  ) throws(MessageError) -> (method: String, url: HTTPURL) {
    guard let text = try part.string("url") else { throw part.failure("missing key \"url\"") }
    let url = text == original.url.string ? original.url : try HTTPURL(text, hosts: hosts)
    guard let method = try part.string("method") else { throw part.failure("missing key \"method\"") }
    try Request.check(method: method.utf8.span)
    return (method, url)
  }

  static func headers(_ part: DocumentPart, _ key: String) throws(MessageError) -> HeaderFields {
    guard let fields = part.json[key] else { return HeaderFields() }
    return try HeadersDocument.read(DocumentPart(fields, at: part.path.appending(key), rules: part.rules))
  }

  private static func trailers(
    _ part: DocumentPart, replacing original: HeaderFields, _ added: HeaderFields.Marks
  ) throws(MessageError) -> HeaderFields {
    var trailers = try headers(part, "trailers")
    try trailers.validateTrailers()
    trailers.takeMarks(from: original, added: added)
    return trailers
  }

  static func body(
    _ part: DocumentPart, original: Body, parsed: [UInt8]? = nil
  ) throws(MessageError) -> Body? {
    guard let form = part.json["body"] else { return nil }
    return try BodyDocument.read(
      DocumentPart(form, at: part.path.appending("body"), rules: part.rules), original: original, parsed: parsed)
  }

  static func body(
    _ part: DocumentPart, replacing original: Body, wasFilled: Bool, parsed: [UInt8]?
  ) throws(MessageError) -> Body {
    if let changed = try body(part, original: original, parsed: parsed) { return changed }
    if case .stream = original { return original }
    return wasFilled ? .empty : original
  }
}
