/// Percent-encoding (RFC 3986 §2.1), in URLs and other texts.
package enum PercentCoding {
  /// Encodes every byte of the UTF-8 text that is not unreserved (§2.3).
  package static func encoded(_ text: String) -> String { encoded(text.utf8.span) }

  /// Encodes every byte that is not unreserved.
  package static func encoded(_ bytes: Span<UInt8>) -> String {
    var encoded: [UInt8] = []
    for index in bytes.indices {
      let byte = bytes[index]
      if isUnreserved(byte) { encoded.append(byte) } else { encoded += octet(byte) }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The decoded bytes; a `%` without two digits stays as it is.
  package static func decoded(_ text: Span<UInt8>) -> [UInt8] {
    var decoded: [UInt8] = []
    var index = 0
    while index < text.count { decoded.append(next(text, &index, text.count)) }
    return decoded
  }

  /// The normal form of a text (RFC 3986 §6.2.2): escapes of unreserved characters are decoded, other escapes are in
  /// upper case, and characters that a URL cannot have are escaped. A `%` without two digits stays.
  package static func normalized(_ text: Span<UInt8>) -> [UInt8] {
    var normalized: [UInt8] = []
    normalized.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      let start = index
      let byte = next(text, &index, text.count)
      let isEscaped = index > start + 1
      if isEscaped ? isUnreserved(byte) : byte > 0x20 && byte < 0x7F {
        normalized.append(byte)
      } else {
        normalized += octet(byte)
      }
    }
    return normalized
  }

  /// Returns the byte at the index; decodes it if it is percent-encoded. Moves the index past the byte or its escape,
  /// but not beyond the end.
  static func next(_ text: Span<UInt8>, _ index: inout Int, _ end: Int) -> UInt8 {
    defer { index += 1 }
    guard text[index] == UInt8(ascii: "%"), index + 2 < end, let high = value(text[index + 1]),
      let low = value(text[index + 2])
    else { return text[index] }
    index += 2
    return high << 4 | low
  }

  static func octet(_ byte: UInt8) -> [UInt8] { [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)] }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

  /// The value of a hexadecimal digit; nil for anything else.
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
