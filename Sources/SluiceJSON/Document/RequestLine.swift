package import SluiceMessages

/// One line of input: a request document with an optional `id` (any JSON scalar) and `timeout`.
package struct RequestLine: Sendable {
  /// The result carries this id, unchanged, so that the caller can match it with the line.
  package var id: JSONValue?
  package var request: Request

  /// Reads a document strictly: an unknown key is an error that names the key.
  /// - Parameter hosts: converts a non-ASCII host in `url`; without an encoder such a host is refused.
  package init(
    _ document: JSONValue, rules: DocumentRules = .line, hosts: HostEncoder? = nil
  ) throws(MessageError) {
    let part = try DocumentPart(document, rules: rules)
    try part.allowKeys(["id"] + RequestDocument.keys + ["timeout"])
    id = document["id"]
    if let id, id.isObject || id.isArray {
      throw part.failure(at: "id", "expected a string, a number, true, false or null, found \(id.kindText)")
    }
    request = try RequestDocument.read(part, hosts)
    request.timeout = try Self.timeout(part)
  }

  /// Reads the text of a line. An error in the JSON itself names its column.
  package init(
    parsing text: UnsafeRawBufferPointer, rules: DocumentRules = .line, hosts: HostEncoder? = nil
  ) throws(MessageError) {
    let document: JSONValue
    do {
      document = try JSONValue(parsing: text, options: .rejectDuplicates)
    } catch {
      throw MessageError(.invalidDocument, "column \(error.column ?? 1)", "not JSON: \(error.message)")
    }
    try self.init(document, rules: rules, hosts: hosts)
  }

  private static func timeout(_ part: DocumentPart) throws(MessageError) -> Duration? {
    guard let text = try part.string("timeout") else { return nil }
    guard let timeout = DurationText.duration(text), timeout > .zero else {
      throw part.failure(
        at: "timeout", "expected a number above 0 with ms, s, m or h, such as 30s; found \(PlainText.quote(text))")
    }
    return timeout
  }
}
