import SluiceMessages

/// The headers of a hop as they were sent over the wire, with secrets hidden. If the sent head is not known, they are
/// the headers of the request.
struct SentFields {
  let list: [NamedValue]
  /// Such as `HTTP/1.1`; nil if the sent head is not known.
  let version: String?
  /// The size of the head in bytes; nil if the sent head is not known, or was compressed (HTTP/2).
  let byteCount: Int?

  init(_ hop: ArchivedHop, _ mask: SecretMask) {
    guard let head = hop.sentHead, let sent = Self.parse(head), sent.method == hop.request.method else {
      list = mask.fields(hop.request.headers).map { NamedValue($0.name, $0.value) }
      (version, byteCount) = (nil, nil)
      return
    }
    // The bytes of the head do not say which fields are sensitive; the request does.
    let headers = hop.request.headers
    let marked = Set(
      headers.indices.filter { headers.marks(at: $0).contains(.sensitive) }.map { headers.name(at: $0).lowercased() })
    list = sent.fields.map { field in
      let isHidden = marked.contains(field.name.lowercased())
      return NamedValue(
        field.name, isHidden ? Redactor.placeholder : mask.value(field.value, ofHeader: field.name))
    }
    version = sent.version
    byteCount = sent.version.hasPrefix("HTTP/1") ? head.count : nil
  }

  /// Nil if the bytes are not a whole head.
  private static func parse(_ head: [UInt8]) -> (method: String, version: String, fields: [NamedValue])? {
    var lines = head.split(separator: UInt8(ascii: "\n")).map { line in
      String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
    }[...]
    let words = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/"), head.suffix(4).elementsEqual("\r\n\r\n".utf8) else {
      return nil
    }
    return (String(words[0]), String(words[2]), lines.compactMap(field))
  }

  private static func field(_ line: String) -> NamedValue? {
    guard let (name, value) = line.parts(around: UInt8(ascii: ":")) else { return nil }
    return NamedValue(String(name), value.trimmedBlanks)
  }
}
