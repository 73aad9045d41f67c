import SluiceMessages

/// Finds the lines of a head in bytes that arrive piece by piece.
///
/// A line ends with CRLF, or with LF alone (RFC 9112 §2.2), unless the reader needs the CR. A CR without LF and a NUL are
/// refused, because other readers take them for the end of a line. No byte is examined twice, so a head that arrives byte by byte costs no
/// more than a head that arrives at once.
struct LineReader: Sendable {
  /// Where the next line begins.
  private(set) var position: Int
  /// The end of the searched bytes: between `position` and this index, there is no line end.
  private var searched: Int
  /// Whether a LF alone is refused.
  private let needsCR: Bool

  init(from position: Int = 0, needsCR: Bool = false) {
    self.position = position
    searched = position
    self.needsCR = needsCR
  }

  /// Whether the search for the end of the next line is still at the first byte of the line.
  var isAtStart: Bool { searched == position }

  /// Continues the search at `index`. The caller must know that there is no line end between ``position`` and `index`.
  mutating func skip(to index: Int) { searched = index }

  /// The content of the next line, without its end; nil if the line is not complete.
  ///
  /// - Parameter bytes: the same bytes as in the last call, followed by the bytes received since.
  @inline(__always)
  mutating func next(in bytes: Span<UInt8>) throws(MessageViolation) -> Range<Int>? {
    while true {
      // This examines eight bytes at a time. The last bytes, fewer than eight, are examined one by one below.
      while let word = bytes.word(at: searched) {
        if let offset = word.firstByte(below: 0x0E) {
          searched += offset
          break
        }
        searched += 8
      }
      guard searched < bytes.count else { return nil }
      switch bytes[searched] {
      case 0x0A where needsCR: throw violation("a LF without a CR before it", bytes)
      case 0x0A: return take(to: searched, next: searched + 1)
      case 0x0D:
        guard searched + 1 < bytes.count else { return nil }
        if bytes[searched + 1] == 0x0A { return take(to: searched, next: searched + 2) }
        throw violation("a CR that does not end it", bytes)
      case 0: throw violation("a NUL", bytes)
      default: searched += 1
      }
    }
  }

  private mutating func take(to end: Int, next: Int) -> Range<Int> {
    let line = position..<end
    position = next
    searched = next
    return line
  }

  private func violation(_ what: String, _ bytes: Span<UInt8>) -> MessageViolation {
    let line = bytes.extracting(position..<searched)
    guard let colon = FieldLine.endOfName(in: line, from: 0) else {
      return MessageViolation(.invalid, "a line with \(what)")
    }
    let name = PlainText.excerpt(line.extracting(0..<colon))
    return MessageViolation(.invalid, "the field \(name) with \(what) in its value")
  }
}
