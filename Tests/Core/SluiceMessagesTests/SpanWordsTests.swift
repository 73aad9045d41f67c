import Testing

@testable import SluiceMessages

/// Functions that process eight bytes at once, compared with the same operation byte by byte.
struct SpanWordsTests {
  /// Bytes at the ends of the ranges of letters, and the same bytes with the highest bit set.
  private static let bytes: [UInt8] = [
    0x00, 0x2D, 0x40, 0x41, 0x5A, 0x5B, 0x60, 0x61, 0x7A, 0x7B, 0x7F, 0x80, 0xC1, 0xDA, 0xFF,
  ]

  @Test(arguments: 0...26)
  func `a byte at any place of a text is converted to lower case, found and compared`(_ count: Int) {
    for place in 0..<max(1, count) {
      for byte in Self.bytes {
        var text = [UInt8](repeating: UInt8(ascii: "q"), count: count)
        if place < count { text[place] = byte }
        let expected = text.map(\.asciiLowercased)
        #expect(Self.lowercased(text) == expected)
        #expect(text.span.hasUppercase == (expected != text))
        var other = text
        #expect(Self.areIdentical(text, other))
        if place < count { other[place] ^= 0x20 }
        #expect(Self.areIdentical(text, other) == (text == other))
      }
    }
  }

  @Test func `texts of different lengths are not identical`() {
    let (short, long): ([UInt8], [UInt8]) = ([1, 2, 3], [1, 2, 3, 4])
    #expect(!Self.areIdentical(short, long) && !Self.areIdentical(long, short))
  }

  private static func areIdentical(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.span.isIdenticalInContent(to: right.span)
  }

  /// Returns the text in lower case. The text fills its allocation exactly, so that a sanitizer notices a write beyond
  /// the text's end.
  private static func lowercased(_ text: [UInt8]) -> [UInt8] {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count, alignment: 1)
    defer { memory.deallocate() }
    text.span.lowercase(into: memory)
    return Array(memory)
  }
}
