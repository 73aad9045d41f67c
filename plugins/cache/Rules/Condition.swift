package import SluiceMessages

extension StoredHead {
  /// Whether the caller gets 304 instead of this response, because of its own `If-None-Match` or `If-Modified-Since`
  /// (RFC 9110 §13.2.2; RFC 9111 §4.3.2). If there is a tag, the date is ignored.
  package func isUnmodified(for request: RequestFacts) -> Bool {
    let tags = request.headers[values: "if-none-match"]
    if !tags.isEmpty { return EntityTagList(tags).matchesWeakly(entityTag) }
    guard let since = request.headers.date("if-modified-since", now: received) else { return false }
    return (lastModified ?? date) <= since
  }

  /// Whether the caller's `If-None-Match` names this response, so that a 304 for the caller also confirms this
  /// response.
  package func isNamed(by request: RequestFacts) -> Bool {
    let tags = request.headers[values: "if-none-match"]
    guard let entityTag, !tags.isEmpty, case .tags = EntityTagList(tags) else { return false }
    return EntityTagList(tags).matchesWeakly(entityTag)
  }

  /// The fields that ask the origin whether this response is still valid (RFC 9111 §4.3.1).
  package var conditions: [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    if let entityTag { fields.append(("if-none-match", entityTag.text)) }
    if lastModified != nil, let text = headers["last-modified"] { fields.append(("if-modified-since", text)) }
    return fields
  }

  /// The header fields of this head that belong in a 304 response (RFC 9110 §15.4.5).
  package var headersForNotModified: HeaderFields {
    var fields = headers
    for name in ["content-length", "content-encoding", "content-type", "content-language", "content-range"] {
      fields.remove(name)
    }
    if entityTag != nil { fields.remove("last-modified") }
    return fields
  }
}
