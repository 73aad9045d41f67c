/// Field values that are lists, read without copying (RFC 9110 §5.6.1).
enum ListSyntax {
  /// Returns the member that begins at `position`, without blanks at its ends, and moves the position behind it. The
  /// member may be empty. Returns nil after the last member.
  static func nextMember(
    _ text: Span<UInt8>, _ position: inout Int, separator: UInt8 = UInt8(ascii: ",")
  ) -> Range<Int>? {
    guard position <= text.count else { return nil }
    var end = position
    while end < text.count, text[end] != separator { end += 1 }
    defer { position = end + 1 }
    return trimmed(text, position..<end)
  }

  /// The range without the spaces and tabs at its ends.
  static func trimmed(_ text: Span<UInt8>, _ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, isBlank(text[start]) { start += 1 }
    while start < end, isBlank(text[end - 1]) { end -= 1 }
    return start..<end
  }

  /// Moves the position to the first byte that is not a blank, or to the end.
  static func skipBlanks(_ text: Span<UInt8>, _ position: inout Int) {
    while position < text.count, isBlank(text[position]) { position += 1 }
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
