/// Base64 with the standard alphabet and padding (RFC 4648 §4).
public enum Base64 {
  /// The text of some bytes, in ASCII, padded.
  public static func encode(_ bytes: [UInt8]) -> [UInt8] {
    bytes.withUnsafeBytes { encode($0) }
  }

  /// The same for bytes that the caller lends for the call.
  public static func encode(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    let length = (bytes.count + 2) / 3 * 4
    return [UInt8](unsafeUninitializedCapacity: length) { text, count in
      alphabet.withUnsafeBufferPointer { alphabet in
        let whole = bytes.count / 3
        for group in 0..<whole { encodeGroup(group, of: bytes, available: 3, into: text, alphabet) }
        let rest = bytes.count - whole * 3
        if rest > 0 { encodeGroup(whole, of: bytes, available: rest, into: text, alphabet) }
      }
      count = length
    }
  }

  @inline(__always)
  private static func encodeGroup(
    _ group: Int, of bytes: UnsafeRawBufferPointer, available: Int, into text: UnsafeMutableBufferPointer<UInt8>,
    _ alphabet: UnsafeBufferPointer<UInt8>
  ) {
    var bits = UInt32(bytes[group &* 3]) << 16
    if available > 1 { bits |= UInt32(bytes[group &* 3 &+ 1]) << 8 }
    if available > 2 { bits |= UInt32(bytes[group &* 3 &+ 2]) }
    text[group &* 4] = alphabet[Int(bits >> 18)]
    text[group &* 4 &+ 1] = alphabet[Int(bits >> 12 & 63)]
    text[group &* 4 &+ 2] = available > 1 ? alphabet[Int(bits >> 6 & 63)] : padding
    text[group &* 4 &+ 3] = available > 2 ? alphabet[Int(bits & 63)] : padding
  }

  /// The bytes of a text, or nil if it is not the canonical spelling: no white space, full padding, and zero in the
  /// bits that padding leaves over (RFC 4648 §3.5).
  public static func decode(_ text: [UInt8]) -> [UInt8]? {
    text.withUnsafeBytes { decode($0) }
  }

  /// The same for text that the caller lends for the call.
  public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    guard let last = text.last else { return [] }
    let pads = last != padding ? 0 : text[text.count - 2] != padding ? 1 : 2
    let length = text.count / 4 * 3 - pads
    var isValid = true
    let bytes = [UInt8](unsafeUninitializedCapacity: length + pads) { bytes, count in
      isValid = decodeGroups(of: text, pads: pads, into: bytes)
      count = isValid ? length : 0
    }
    return isValid ? bytes : nil
  }

  /// Writes whole groups of three; bytes for the padding are written too, and the caller cuts them off.
  private static func decodeGroups(
    of text: UnsafeRawBufferPointer, pads: Int, into bytes: UnsafeMutableBufferPointer<UInt8>
  ) -> Bool {
    let last = text.count / 4 - 1
    return values.withUnsafeBufferPointer { values in
      var seen: UInt32 = 0
      for group in 0..<last {
        seen |= decodeGroup(group, of: text, letters: 4, into: bytes, values).seen
      }
      let end = decodeGroup(last, of: text, letters: 4 - pads, into: bytes, values)
      let leftOver = pads == 2 ? end.bits & 0xFFFF : pads == 1 ? end.bits & 0xFF : 0
      return (seen | end.seen) < 64 && leftOver == 0
    }
  }

  @inline(__always)
  private static func decodeGroup(
    _ group: Int, of text: UnsafeRawBufferPointer, letters: Int, into bytes: UnsafeMutableBufferPointer<UInt8>,
    _ values: UnsafeBufferPointer<UInt8>
  ) -> (seen: UInt32, bits: UInt32) {
    var seen: UInt32 = 0
    var bits: UInt32 = 0
    for place in 0..<4 {
      let value = place < letters ? UInt32(values[Int(text[group &* 4 &+ place])]) : 0
      seen |= value
      bits = bits << 6 | value & 63
    }
    bytes[group &* 3] = UInt8(truncatingIfNeeded: bits >> 16)
    bytes[group &* 3 &+ 1] = UInt8(truncatingIfNeeded: bits >> 8)
    bytes[group &* 3 &+ 2] = UInt8(truncatingIfNeeded: bits)
    return (seen, bits)
  }

  private static let padding = UInt8(ascii: "=")
  private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// The value of each letter, 64 for any other byte: that bit survives the union of all values.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()
}
