import SluiceMessages

/// The parts of one field line, `name: value` (RFC 9112 §5).
package struct FieldLine {
  let name: Range<Int>
  /// The value without the spaces around it.
  let value: Range<Int>

  /// Nil if the line does not begin with a valid name and a colon.
  init?(_ line: Range<Int>, in bytes: Span<UInt8>) {
    guard let colon = Self.endOfName(in: bytes.extracting(0..<line.upperBound), from: line.lowerBound) else {
      return nil
    }
    self.init(line, colon: colon, in: bytes)
  }

  /// - Parameter colon: the position of the colon after a valid name.
  @inline(__always)
  init(_ line: Range<Int>, colon: Int, in bytes: Span<UInt8>) {
    name = line.lowerBound..<colon
    value = Self.trimmed(colon + 1..<line.upperBound, in: bytes)
  }

  /// The position of the colon after the valid name that begins at `start`; nil if there is no such name.
  @inline(__always)
  static func endOfName(in bytes: Span<UInt8>, from start: Int) -> Int? {
    var index = start
    while true {
      // A fast path for eight bytes at a time: most names consist of letters and hyphens.
      while let word = bytes.word(at: index) {
        let others = word.otherThanLettersHyphens
        index += others == 0 ? 8 : others.trailingZeroBitCount / 8
        if others != 0 { break }
      }
      guard index < bytes.count else { return nil }
      if bytes[index] == UInt8(ascii: ":") { return index > start ? index : nil }
      guard FieldSyntax.isTokenCharacter(bytes[index]) else { return nil }
      index += 1
    }
  }

  /// The part of a range without the spaces and tabs at its ends.
  @inline(__always)
  package static func trimmed(_ range: Range<Int>, in bytes: Span<UInt8>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, isSpace(bytes[start]) { start += 1 }
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return start..<end
  }

  /// Calls the closure with each member of a list (RFC 9110 §5.6.1), without the spaces around it.
  package static func forEachMember(of list: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
    var start = 0
    for index in 0...list.count where index == list.count || list[index] == UInt8(ascii: ",") {
      body(list.extracting(trimmed(start..<index, in: list)))
      start = index + 1
    }
  }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
