/// Base64 with the standard alphabet and padding (RFC 4648 §4).
public enum Base64 {
  /// Encodes bytes as ASCII text with padding.
  public static func encode(_ bytes: [UInt8]) -> [UInt8] { encode(bytes.span) }

  /// Encodes bytes that the caller lends for the call, as ASCII text with padding.
  package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
    var text = [UInt8](repeating: padding, count: (bytes.count + 2) / 3 * 4)
    var output = text.mutableSpan
    let letters = alphabet.span
    let whole = bytes.count / 3
    for group in 0..<whole { unsafe output.write(bytes.group(group), at: group, letters: 4, of: letters) }
    let rest = bytes.count - whole * 3
    if rest > 0 {
      let second = rest > 1 ? UInt32(bytes[whole * 3 + 1]) << 8 : 0
      let bits = UInt32(bytes[whole * 3]) << 16 | second
      unsafe output.write(bits, at: whole, letters: rest + 1, of: letters)
    }
    return text
  }

  /// Decodes a text; nil if it is not in the canonical spelling. The canonical spelling has no white space and full
  /// padding, and the unused bits of its last letter are zero (RFC 4648 §3.5).
  public static func decode(_ text: [UInt8]) -> [UInt8]? { decode(text.span) }

  /// Decodes a text that the caller lends for the call; nil if it is not in the canonical spelling.
  package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 4) else { return nil }
    guard !text.isEmpty else { return [] }
    let last = text.count / 4 - 1
    let pads = text[text.count - 1] != padding ? 0 : text[text.count - 2] != padding ? 1 : 2
    // There is room for three bytes of each group. The last bytes, for which there is only padding, are cut off below.
    var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3)
    var output = bytes.mutableSpan
    let values = values.span
    var seen: UInt32 = 0
    for group in 0..<last { seen |= unsafe output.read(group, of: text, letters: 4, values).seen }
    let end = unsafe output.read(last, of: text, letters: 4 - pads, values)
    let leftOver = pads == 2 ? end.bits & 0xFFFF : pads == 1 ? end.bits & 0xFF : 0
    guard seen | end.seen < 64, leftOver == 0 else { return nil }
    bytes.removeLast(pads)
    return bytes
  }

  private static let padding = UInt8(ascii: "=")
  private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// The value of each letter; 64 for any other byte. The decoder combines all values with OR: if the bit for 64 is
  /// set, a byte is invalid.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
    return values
  }()
}

// The indices are not checked: checks make encoding take three times as long, and decoding ten times. The loops above
// end with the last group of both spans. Every index into a table is smaller than the table, because the index has six
// bits or is a byte.

extension Span<UInt8> {
  /// The three bytes of a group as one number.
  @unsafe @inline(__always)
  fileprivate func group(_ group: Int) -> UInt32 {
    let start = group &* 3
    return unsafe UInt32(self[unchecked: start]) << 16 | UInt32(self[unchecked: start &+ 1]) << 8
      | UInt32(self[unchecked: start &+ 2])
  }
}

extension MutableSpan<UInt8> {
  /// Writes the first `count` letters of a group; the other letters stay unchanged.
  @unsafe @inline(__always)
  fileprivate mutating func write(_ bits: UInt32, at group: Int, letters count: Int, of alphabet: Span<UInt8>) {
    let start = group &* 4
    unsafe self[unchecked: start] = alphabet[unchecked: Int(bits >> 18)]
    unsafe self[unchecked: start &+ 1] = alphabet[unchecked: Int(bits >> 12 & 63)]
    if count > 2 { unsafe self[unchecked: start &+ 2] = alphabet[unchecked: Int(bits >> 6 & 63)] }
    if count > 3 { unsafe self[unchecked: start &+ 3] = alphabet[unchecked: Int(bits & 63)] }
  }

  /// Decodes a group of four characters and writes its three bytes. Only the first `count` characters are letters; the
  /// others are padding and count as zero.
  @unsafe @inline(__always)
  fileprivate mutating func read(
    _ group: Int, of text: Span<UInt8>, letters count: Int, _ values: Span<UInt8>
  ) -> (seen: UInt32, bits: UInt32) {
    let (start, end) = (group &* 3, group &* 4)
    var seen: UInt32 = 0
    var bits: UInt32 = 0
    for place in 0..<4 {
      let value = place < count ? unsafe UInt32(values[unchecked: Int(text[unchecked: end &+ place])]) : 0
      seen |= value
      bits = bits << 6 | value & 63
    }
    unsafe self[unchecked: start] = UInt8(truncatingIfNeeded: bits >> 16)
    unsafe self[unchecked: start &+ 1] = UInt8(truncatingIfNeeded: bits >> 8)
    unsafe self[unchecked: start &+ 2] = UInt8(truncatingIfNeeded: bits)
    return (seen, bits)
  }
}
