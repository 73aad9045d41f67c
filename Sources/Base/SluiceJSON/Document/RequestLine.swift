package import SluiceMessages

/// One line of input: a request document with an optional `id` (any JSON scalar) and `timeout`.
package struct RequestLine: Sendable {
  /// The result carries this id, unchanged, so that the caller can match it with the line.
  package var id: JSONValue?
  package var request: Request

  /// Reads a document strictly: an unknown key is an error that names the key.
  /// - Parameters:
  ///   - text: the text that the document was parsed from. With it, numbers and escapes in a `json` body stay as the text
  ///     spells them.
  ///   - hosts: converts a non-ASCII host in `url`; without an encoder such a host is refused.
  package init(
    _ document: JSONValue, text: UnsafeRawBufferPointer? = nil, rules: DocumentRules = .line,
    hosts: HostEncoder? = nil
  ) throws(MessageError) {
    let part = try DocumentPart(document, rules: rules)
    try part.allowKeys(["id"] + RequestDocument.keys + ["timeout"])
    id = document["id"]
    if let id, id.isObject || id.isArray {
      throw part.failure(at: "id", "expected a string, a number, true, false or null, found \(id.kindText)")
    }
    request = try RequestDocument.read(part, hosts, spelled: text.flatMap { Self.spelledBody(document, $0) })
    request.timeout = try Self.timeout(part)
  }

  /// Reads the text of a line. An error in the JSON itself names its column.
  package init(
    parsing text: UnsafeRawBufferPointer, rules: DocumentRules = .line, hosts: HostEncoder? = nil
  ) throws(MessageError) {
    try self.init(Self.document(text), text: text, rules: rules, hosts: hosts)
  }

  /// Parses the text of a line. An error names its column.
  package static func document(_ text: UnsafeRawBufferPointer) throws(MessageError) -> JSONValue {
    do { return try JSONValue(parsing: text, options: .rejectDuplicates) } catch {
      let reason =
        error.code == .numberOutOfRange
        ? "an integer of more than 64 bits, or a number too large for a double, cannot be read; to send it in a body,"
          + " write the body as \"text\", and name its content-type"
        : "not JSON: \(error.message)"
      throw MessageError(.invalidDocument, "column \(error.column ?? 1)", reason)
    }
  }

  /// The text of a `json` body without white space; nil if there is no such body.
  private static func spelledBody(_ document: JSONValue, _ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard document["body"]?["json"] != nil else { return nil }
    return JSONLocator(Array(text)).compactText(of: JSONPointer(tokens: ["body", "json"]))
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
