import SluiceMessages

extension JSONText {
  /// Appends the document that ``ResponseDocument`` makes of a response.
  /// - Parameter parsesJSON: whether a body that is JSON is written as JSON, and not as text.
  mutating func append(_ response: Response, parsesJSON: Bool = false) throws(JSONError) {
    write("{\"status\":")
    append(response.status)
    write(",\"headers\":")
    try append(response.headers)
    if parsesJSON, response.headers["content-type"].map(BodyDocument.isJSONMediaType) ?? false,
      case .bytes(let bytes) = response.body, !bytes.isEmpty
    {
      try append(json: bytes)
    } else {
      try append(body: response.body)
    }
    if !response.trailers.isEmpty {
      write(",\"trailers\":")
      try append(response.trailers)
    }
    write("}")
  }

  /// With more fields than this, searching for the lines of each name takes longer than building the document.
  private static let maximumFields = 64

  /// Appends the object that ``HeadersDocument`` makes of fields.
  mutating func append(_ fields: HeaderFields) throws(JSONError) {
    guard fields.count <= Self.maximumFields else { return try append(HeadersDocument.make(fields)) }
    write("{")
    fields.buffer.withUnsafeBufferPointer { buffer in
      let repeated = Self.repeatedKinds(fields, buffer)
      var isFirst = true
      for index in fields.indices {
        let name = UnsafeBufferPointer(rebasing: buffer[fields.nameRange(at: index)])
        let isAlone = repeated & Self.kind(name) == 0
        guard FieldSyntax.isToken(name.span), isAlone || fields.firstIndex(named: name.span) == index else { continue }
        append(key: name, isFirst: isFirst)
        isFirst = false
        appendLines(of: fields, buffer, name, at: index, isAlone: isAlone)
      }
    }
    write("}")
  }

  /// Returns a number with one bit set, which depends on the name. Names that differ only in upper and lower case have
  /// the same bit, and other names can have it too.
  @inline(__always)
  private static func kind(_ name: UnsafeBufferPointer<UInt8>) -> UInt64 {
    guard let first = name.first, let last = name.last else { return 1 }
    return 1 &<< (UInt64(name.count) &* 7 ^ UInt64(first | 0x20) ^ UInt64(last | 0x20) &* 5)
  }

  /// Returns the bits that ``kind(_:)`` gives to more than one field. If the bit of a name is not among them, the name
  /// occurs only once, so no search for further lines is needed.
  private static func repeatedKinds(_ fields: HeaderFields, _ buffer: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var seen: UInt64 = 0
    var repeated: UInt64 = 0
    for index in fields.indices {
      let kind = kind(UnsafeBufferPointer(rebasing: buffer[fields.nameRange(at: index)]))
      repeated |= seen & kind
      seen |= kind
    }
    return repeated
  }

  private mutating func appendLines(
    of fields: HeaderFields, _ buffer: UnsafeBufferPointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>, at first: Int,
    isAlone: Bool
  ) {
    var next = isAlone ? nil : fields.firstIndex(named: name.span, from: first + 1)
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

  /// Appends a comma and the member of a body. Appends nothing for a body that has no form in a document.
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

  /// Appends a comma and the member of a body that should be JSON. Its numbers and escapes keep their spelling. A body
  /// that cannot be parsed is written as text or base64, with the reason (``BodyDocument``).
  private mutating func append(json bytes: [UInt8]) throws(JSONError) {
    write(",\"body\":")
    let form = BodyDocument.make(bytes, parsing: true)
    guard form["json"] != nil, let text = JSONLocator(bytes).compactText(of: JSONPointer(tokens: [])) else {
      return try append(form)
    }
    write("{\"json\":")
    append(text)
    write("}")
  }

  private mutating func append(base64 text: UnsafeBufferPointer<UInt8>) {
    write("{\"base64\":\"")
    append(Base64.encode(text.span))
    write("\"}")
  }

  static func isText(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    DocumentText.isASCII(bytes) || (try? UTF8Span(validating: bytes.span)) != nil
  }
}
