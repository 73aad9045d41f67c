import CJansson
package import SluiceMessages

/// The `headers` and `trailers` of a document:
///
///     fields := { name: value, … }
///     value  := "text" | {"base64": "…"} | [ "text" | {"base64": "…"}, … ]
///
/// Names are in lower case; an array holds the lines of a repeated field in wire order.
package enum HeadersDocument {
  /// A field whose name is not a token is left out: a document with such a field could not be sent.
  package static func make(_ headers: HeaderFields) -> JSONValue {
    let fields = JSONValue.object()
    headers.buffer.withUnsafeBufferPointer { buffer in
      for index in headers.indices {
        let name = UnsafeBufferPointer(rebasing: buffer[headers.nameRange(at: index)])
        guard FieldSyntax.isToken(name.span) else { continue }
        let value = UnsafeBufferPointer(rebasing: buffer[headers.valueRange(at: index)])
        DocumentHeaders.append(DocumentHeaders.made(value), named: name, to: fields.json)
      }
    }
    return fields
  }

  /// The fields of a document, checked like every field (``HeaderFields/check(name:value:)``).
  static func read(_ part: DocumentPart) throws(MessageError) -> HeaderFields {
    var headers = HeaderFields(fieldCapacity: part.json.count, byteCapacity: part.json.count * 48)
    var position = json_object_iter(part.json.json)
    while let at = position, let entry = json_object_iter_value(at), let key = json_object_iter_key(at) {
      let start = UnsafeRawPointer(key).assumingMemoryBound(to: UInt8.self)
      let name = UnsafeBufferPointer(start: start, count: json_object_iter_key_len(at))
      try append(entry, named: name, to: &headers, part)
      position = json_object_iter_next(part.json.json, at)
    }
    return headers
  }

  private static func append(
    _ entry: UnsafeMutablePointer<json_t>, named name: UnsafeBufferPointer<UInt8>, to headers: inout HeaderFields,
    _ part: DocumentPart
  ) throws(MessageError) {
    if !part.rules.contains(.namesInAnyCase), name.span.hasUppercase {
      throw part.failure(at: String(decoding: name, as: UTF8.self), "expected the header name in lower case")
    }
    guard entry.pointee.type == JSON_ARRAY else {
      return try appendLine(entry, named: name, to: &headers, part, path: part.path)
    }
    let path = part.path.appending(String(decoding: name, as: UTF8.self))
    for index in 0..<json_array_size(entry) {
      guard let line = json_array_get(entry, index) else { continue }
      try appendLine(line, named: name, to: &headers, part, path: path, index: index)
    }
  }

  private static func appendLine(
    _ line: UnsafeMutablePointer<json_t>, named name: UnsafeBufferPointer<UInt8>, to headers: inout HeaderFields,
    _ part: DocumentPart, path: JSONPointer, index: Int? = nil
  ) throws(MessageError) {
    if let bytes = DocumentText.bytes(line) {
      try HeaderFields.check(name: name.span, value: bytes.span)
      headers.append(name.span, bytes.span)
    } else if let bytes = DocumentText.decoded(line) {
      try HeaderFields.check(name: name.span, value: bytes.span)
      headers.append(name.span, bytes.span)
    } else {
      let kind = JSONValue(retaining: line).kindText
      let found = kind == "an object" ? "an object without valid base64" : kind
      throw part.failure(
        at: index.map { "\(String(decoding: name, as: UTF8.self))/\($0)" } ?? String(decoding: name, as: UTF8.self),
        "expected a string, {\"base64\": \"…\"} or an array of these, found \(found)")
    }
  }
}

extension HeaderFields {
  /// Sets the marks of these fields from the fields before the change, `origin`: an unchanged field keeps its marks, a
  /// field whose value changed stays sensitive, and a new field gets `added`.
  mutating func takeMarks(from origin: HeaderFields, added: Marks) {
    if added.isEmpty, origin.indices.allSatisfy({ origin.marks(at: $0).isEmpty }) { return }
    let fields = self
    var expected = 0
    for index in fields.indices {
      let bytes = fields.buffer.span
      let name = bytes.extracting(fields.nameRange(at: index))
      let value = bytes.extracting(fields.valueRange(at: index))
      mark(at: index, origin.marks(of: name, value, expectedAt: &expected, otherwise: added))
    }
  }

  /// Begins the search after the field that was found last. If the order of the fields has not changed, each search
  /// then ends at its first comparison.
  private func marks(
    of name: Span<UInt8>, _ value: Span<UInt8>, expectedAt expected: inout Int, otherwise added: Marks
  ) -> Marks {
    if expected < count, isValue(at: expected, value), isName(at: expected, name) {
      expected += 1
      return marks(at: expected - 1)
    }
    var next = firstIndex(named: name)
    var isSensitive = false
    while let index = next {
      if isValue(at: index, value) {
        expected = index + 1
        return marks(at: index)
      }
      isSensitive = isSensitive || marks(at: index).contains(.sensitive)
      next = firstIndex(named: name, from: index + 1)
    }
    return isSensitive ? added.union(.sensitive) : added
  }
}
