import SluiceMessages

/// Reads the fields of a head, or the trailers of a body, as their bytes arrive (RFC 9112 §5).
struct FieldSection: Sendable {
  private var lines: LineReader
  private var block = HeaderFields.Block()
  private let limits: MessageLimits
  /// The name of the section in errors: `head` or `trailers`.
  private let part: String
  /// Whether a LF alone does not end a line, no line continues a field, and no value has a control character.
  private let isStrict: Bool

  /// The content of the last line.
  enum Step {
    /// The line is not complete.
    case more
    case field(FieldLine)
    /// A line that continues the field before it.
    case continued
    /// The empty line after the last field.
    case end
  }

  init(_ limits: MessageLimits, part: String, isStrict: Bool = false) {
    self.limits = limits
    self.part = part
    self.isStrict = isStrict
    lines = LineReader(needsCR: isStrict)
  }

  /// Begins a new section after lines of another kind, such as a status line.
  mutating func begin(after lines: LineReader? = nil) {
    self.lines = lines ?? LineReader(needsCR: isStrict)
    block.removeAll()
  }

  /// Where the next line begins.
  var position: Int { lines.position }
  var count: Int { block.count }

  @inline(__always)
  mutating func next(in bytes: Span<UInt8>) throws(MessageViolation) -> Step {
    // If the name has arrived completely, it is checked in one pass. It contains no line end, so the search for a line
    // end can begin after it.
    let colon = lines.isAtStart ? FieldLine.endOfName(in: bytes, from: lines.position) : nil
    if let colon { lines.skip(to: colon + 1) }
    guard let line = try lines.next(in: bytes) else {
      guard bytes.count <= limits.headBytes else { throw tooManyBytes }
      return .more
    }
    guard lines.position <= limits.headBytes else { throw tooManyBytes }
    if line.isEmpty { return .end }
    if let field = colon.map({ FieldLine(line, colon: $0, in: bytes) }) ?? FieldLine(line, in: bytes) {
      guard block.count < limits.fields else { throw tooManyFields }
      if isStrict, !FieldSyntax.isFieldValue(bytes.extracting(field.value)) { throw control(in: field, bytes) }
      block.append(name: field.name, value: field.value, in: bytes)
      return .field(field)
    }
    try unfold(line, in: bytes)
    return .continued
  }

  /// Returns the fields and removes them from the section.
  mutating func takeFields(from bytes: Span<UInt8>) -> HeaderFields { block.takeFields(from: bytes) }

  /// A line that begins with a space continues the line before it (RFC 9112 §5.2).
  private mutating func unfold(_ line: Range<Int>, in bytes: Span<UInt8>) throws(MessageViolation) {
    guard FieldLine.isSpace(bytes[line.lowerBound]) else {
      let text = PlainText.quote(bytes.extracting(line))
      throw MessageViolation(.invalid, "a line in the \(part) without a valid name before a colon: \(text)")
    }
    guard !isStrict else {
      throw MessageViolation(
        .invalid, "a line in the \(part) that begins with a space, which continues a field (RFC 9112 §5.2)")
    }
    guard let count = block.lastNameCount else {
      throw MessageViolation(.invalid, "a first line of the \(part) that begins with a space")
    }
    guard DecidingFields.hasLength(count), let name = block.lastName(in: bytes) else {
      return block.continueLast(with: FieldLine.trimmed(line, in: bytes), in: bytes)
    }
    guard !DecidingFields.contains(name.span) else {
      throw MessageViolation(
        .invalid, "a folded \(PlainText.excerpt(name.span)) field, of which some readers see only the first line")
    }
    block.continueLast(with: FieldLine.trimmed(line, in: bytes), in: bytes)
  }

  private func control(in field: FieldLine, _ bytes: Span<UInt8>) -> MessageViolation {
    let name = PlainText.excerpt(bytes.extracting(field.name))
    return MessageViolation(.invalid, "the field \(name) with a control character in its value (RFC 9110 §5.5)")
  }

  private var tooManyFields: MessageViolation {
    .excess(ofFields: limits, part: part)
  }

  private var tooManyBytes: MessageViolation {
    .excess(ofBytes: limits, part: part)
  }
}

/// The fields that decide where a message ends, how it is coded, or whether the connection is closed after it.
enum DecidingFields {
  /// Whether a name of `count` bytes has the length of one of these fields' names.
  @inline(__always)
  static func hasLength(_ count: Int) -> Bool {
    // Bit n is set if the name of one of these fields has n bytes.
    count < 18 && 0b11_0100_0100_0000_0000 &>> count & 1 == 1
  }

  static func contains(_ name: Span<UInt8>) -> Bool {
    switch name.count {
    case 10: FieldSyntax.equals(name, "connection")
    case 14: FieldSyntax.equals(name, "content-length")
    case 16: FieldSyntax.equals(name, "content-encoding")
    case 17: FieldSyntax.equals(name, "transfer-encoding")
    default: false
    }
  }
}
