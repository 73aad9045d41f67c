extension Span where Element == UInt8 {
  /// Whether both spans have the same bytes.
  package func isIdenticalInContent(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    if isIdentical(to: other) { return true }
    guard let last = word(at: count - 8), let otherLast = other.word(at: count - 8) else {
      return indices.allSatisfy { self[$0] == other[$0] }
    }
    var index = 0
    while index < count - 8, let ours = word(at: index), let theirs = other.word(at: index) {
      if ours != theirs { return false }
      index += 8
    }
    return last == otherLast
  }

  /// Eight bytes from `index` on, the first of them in the lowest bits; nil if fewer are left.
  @inlinable @inline(__always)
  package func word(at index: Int) -> UInt64? {
    guard index >= 0, index <= count - 8 else { return nil }
    // Safe because the eight bytes lie within the span.
    return UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// Whether one of the bytes is an ASCII letter in upper case.
  package var hasUppercase: Bool {
    guard let last = word(at: count - 8) else {
      if let shortWord { return shortWord.asciiLowercased != shortWord }
      return indices.contains { self[$0].asciiLowercased != self[$0] }
    }
    var index = 0
    while index < count - 8, let word = word(at: index) {
      if word.asciiLowercased != word { return true }
      index += 8
    }
    return last.asciiLowercased != last
  }

  /// Writes the bytes with A–Z converted to a–z; `output` must have room for them.
  package func lowercase(into output: UnsafeMutableRawBufferPointer) {
    precondition(output.count >= count)
    guard let last = word(at: count - 8) else {
      for index in indices { unsafe output[index] = self[index].asciiLowercased }
      return
    }
    var index = 0
    while index < count - 8, let word = word(at: index) {
      unsafe output.storeBytes(of: word.asciiLowercased.littleEndian, toByteOffset: index, as: UInt64.self)
      index += 8
    }
    // Writes the last eight bytes, some of them twice: this costs less than writing the remaining bytes one by one.
    unsafe output.storeBytes(of: last.asciiLowercased.littleEndian, toByteOffset: count - 8, as: UInt64.self)
  }

  /// All bytes of a span of four to eight bytes: the first four in the lower half, the last four in the upper half.
  /// Bytes in the middle occur in both. Nil for any other count.
  @inline(__always)
  var shortWord: UInt64? {
    guard count >= 4, count <= 8 else { return nil }
    // Safe because both loads stay within the span.
    let first = UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(as: UInt32.self))
    let last = UInt32(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
    return UInt64(first) | UInt64(last) << 32
  }
}

extension UInt64 {
  /// The position of the first byte that is less than `limit`, counted from the lowest of the eight bytes; nil if there
  /// is none. `limit` is at most 128.
  @inlinable @inline(__always)
  package func firstByte(below limit: UInt8) -> Int? {
    let found = (self &- Self.ones &* UInt64(limit)) & ~self & (Self.ones &* 0x80)
    return found == 0 ? nil : found.trailingZeroBitCount / 8
  }

  /// Whether one of the eight bytes is a control character, including a tab and DEL.
  @inline(__always)
  var hasControl: Bool {
    let isBelowSpace = self &- Self.ones &* 0x20
    let isDelete = (self ^ Self.ones &* 0x7F) &- Self.ones
    return (isBelowSpace | isDelete) & ~self & (Self.ones &* 0x80) != 0
  }

  /// Whether all eight bytes are ASCII letters, digits or hyphens.
  @inline(__always)
  var isLettersDigitsHyphens: Bool {
    let others = otherThanLettersHyphens
    if others == 0 { return true }
    let digits = (self &+ Self.ones &* (0x80 - 0x30)) & ~(self &+ Self.ones &* (0x80 - 0x3A))
    // The sums never carry into the next byte, because all bytes are below 0x80.
    return self & (Self.ones &* 0x80) == 0 && others & ~digits == 0
  }

  /// The high bit of each byte that is neither an ASCII letter nor a hyphen.
  @inlinable @inline(__always)
  package var otherThanLettersHyphens: UInt64 {
    let high = Self.ones &* 0x80
    let low = self & ~high
    // The sum sets the high bit of each byte that is not a hyphen, and never carries into the next byte.
    let others = (low ^ Self.ones &* 0x2D) &+ Self.ones &* 0x7F
    return (others | self) & ~asciiLetters & high
  }

  /// The high bit of each byte that is an ASCII letter.
  @inlinable @inline(__always)
  var asciiLetters: UInt64 {
    let high = Self.ones &* 0x80
    let lowercased = (self | Self.ones &* 0x20) & ~high
    return (lowercased &+ Self.ones &* (0x80 - 0x61)) & ~(lowercased &+ Self.ones &* (0x80 - 0x7B)) & ~self & high
  }

  /// The eight bytes with A–Z converted to a–z.
  @inline(__always)
  package var asciiLowercased: UInt64 { self | asciiLetters &>> 2 }

  /// Whether all eight bytes are ASCII, and none of them is a control, a space or one of the three given bytes.
  @inline(__always)
  func isPrintable(without first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
    guard self & (Self.ones &* 0x80) == 0, firstByte(below: 0x21) == nil else { return false }
    let isFree = !contains(first) && !contains(second) && !contains(third)
    return isFree && !contains(0x7F)
  }

  /// Whether both have the same eight bytes, if upper and lower case of ASCII letters are not distinguished.
  @inline(__always)
  func equalsIgnoringCase(_ other: UInt64) -> Bool {
    // Only letters may differ, and only in the bit that distinguishes upper from lower case.
    (self ^ other) & ~(asciiLetters >> 2) == 0
  }

  /// Whether one of the eight bytes equals the given byte.
  @inline(__always)
  func contains(_ byte: UInt8) -> Bool { (self ^ Self.ones &* UInt64(byte)).firstByte(below: 1) != nil }

  @inlinable static var ones: UInt64 { 0x0101_0101_0101_0101 }
}
