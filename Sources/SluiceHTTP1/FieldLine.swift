import SluiceMessages

/// The parts of one field line, `name: value` (RFC 9112 §5).
struct FieldLine {
  let name: Range<Int>
  /// Without the spaces around it.
  let value: Range<Int>

  /// nil if the line has no valid name directly before a colon.
  @inline(__always)
  init?(_ line: Range<Int>, in bytes: Span<UInt8>) {
    var index = line.lowerBound
    while index < line.upperBound, FieldSyntax.isTokenCharacter(bytes[index]) { index += 1 }
    guard index > line.lowerBound, index < line.upperBound, bytes[index] == UInt8(ascii: ":") else { return nil }
    name = line.lowerBound..<index
    value = Self.trimmed(index + 1..<line.upperBound, in: bytes)
  }

  /// The position of the colon after a valid name.
  static func endOfName(in line: Span<UInt8>) -> Int? { FieldLine(0..<line.count, in: line)?.name.upperBound }

  /// The part of a range without the spaces and tabs at its ends.
  @inline(__always)
  static func trimmed(_ range: Range<Int>, in bytes: Span<UInt8>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, isSpace(bytes[start]) { start += 1 }
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return start..<end
  }

  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
