import SluiceMessages

extension JSONBytes {
  /// What ``ResponseDocument`` makes of a response.
  mutating func append(_ response: Response) throws(JSONError) {
    write("{\"status\":")
    append(response.status)
    write(",\"headers\":")
    try append(response.headers)
    try append(body: response.body)
    if !response.trailers.isEmpty {
      write(",\"trailers\":")
      try append(response.trailers)
    }
    write("}")
  }

  /// With more fields than this, finding those of one name takes longer than building the document.
  private static let maximumFields = 64

  /// What ``HeadersDocument`` makes of fields.
  mutating func append(_ fields: HeaderFields) throws(JSONError) {
    guard fields.count <= Self.maximumFields else { return try append(HeadersDocument.make(fields)) }
    write("{")
    var isFirst = true
    fields.buffer.withUnsafeBufferPointer { buffer in
      for index in fields.indices {
        let name = UnsafeBufferPointer(rebasing: buffer[fields.nameRange(at: index)])
        guard FieldSyntax.isToken(name.span), fields.firstIndex(named: name.span) == index else { continue }
        write(isFirst ? "\"" : ",\"")
        isFirst = false
        append(lowercasing: name)
        write("\":")
        appendLines(of: fields, buffer, name, at: index)
      }
    }
    write("}")
  }

  private mutating func appendLines(
    of fields: HeaderFields, _ buffer: UnsafeBufferPointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>, at first: Int
  ) {
    var next = fields.firstIndex(named: name.span, from: first + 1)
    let isRepeated = next != nil
    if isRepeated { write("[") }
    append(value: UnsafeBufferPointer(rebasing: buffer[fields.valueRange(at: first)]))
    while let index = next {
      write(",")
      append(value: UnsafeBufferPointer(rebasing: buffer[fields.valueRange(at: index)]))
      next = fields.firstIndex(named: name.span, from: index + 1)
    }
    if isRepeated { write("]") }
  }

  private mutating func append(value: UnsafeBufferPointer<UInt8>) {
    if Self.isText(value) { append(quoting: value) } else { append(base64: value) }
  }

  /// The member of a body, with a comma before it; nothing for a body without a form.
  private mutating func append(body: Body) throws(JSONError) {
    guard case .bytes(let bytes) = body, !bytes.isEmpty else {
      guard let document = BodyDocument.make(body, parsing: false) else { return }
      write(",\"body\":")
      return try append(document)
    }
    write(",\"body\":")
    bytes.withUnsafeBufferPointer { bytes in
      if Self.isText(bytes), !BodyDocument.hasNUL(bytes) {
        write("{\"text\":")
        append(quoting: bytes)
        write("}")
      } else {
        append(base64: bytes)
      }
    }
  }

  private mutating func append(base64 text: UnsafeBufferPointer<UInt8>) {
    write("{\"base64\":\"")
    append(Base64.encode(text.span))
    write("\"}")
  }

  private static func isText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    DocumentText.isASCII(bytes) || (try? UTF8Span(validating: bytes.span)) != nil
  }
}
