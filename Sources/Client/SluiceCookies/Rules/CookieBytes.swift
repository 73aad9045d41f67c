/// Functions on bytes that several rules of cookies need.
enum CookieBytes {
  static let equals = UInt8(ascii: "=")
  static let semicolon = UInt8(ascii: ";")
  static let slash = UInt8(ascii: "/")
  static let dot = UInt8(ascii: ".")
  static let tab = UInt8(ascii: "\t")

  /// %x00-08, %x0A-1F and %x7F: every control character except the tab (§5.6 step 1).
  static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != tab || byte == 0x7F }

  static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == tab }

  static func lowercased(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }

  /// The bytes without the spaces and tabs at both ends.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return bytes
  }

  /// Whether the bytes begin with a text, compared without case. The text must be in lower case.
  static func begins(_ bytes: some Collection<UInt8>, withLowercase text: String) -> Bool {
    let head = bytes.prefix(text.utf8.count)
    return head.count == text.utf8.count && head.lazy.map(lowercased).elementsEqual(text.utf8)
  }

  /// Whether the bytes are equal to a text, compared without case. The text must be in lower case.
  static func equal(_ bytes: some Collection<UInt8>, lowercase text: String) -> Bool {
    bytes.count == text.utf8.count && begins(bytes, withLowercase: text)
  }
}
