package import SluiceMessages

/// The head of a response line by line, as libcurl gives it to a program, and the fields in it.
///
/// Lines that stages do not change go to the program byte by byte.
package struct ResponseHeadLines: Sendable {
  private enum Form: Sendable {
    /// The position in ``fields``.
    case field(Int)
    /// A line that continues the field before it (RFC 9112 §5.2).
    case continuation(Int)
    /// The empty line.
    case end
    /// The status line, a line that is not a field, or a line after the head. Stages do not see it.
    case other
  }

  private var text: [UInt8] = []
  private var lines: [(range: Range<Int>, form: Form)] = []
  package private(set) var fields = HeaderFields()
  private var hasEnded = false

  package init() {}

  /// Adds a line with its line end. The line must not contain a NUL. The first line is the status line.
  package mutating func append(line: Span<UInt8>) {
    lines.append((text.append(line: line), form(of: line)))
  }

  private mutating func form(of line: Span<UInt8>) -> Form {
    guard let last = lines.last?.form, !hasEnded else { return .other }
    switch line.isEmpty ? nil : line[0] {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"), nil:
      hasEnded = true
      return .end
    case UInt8(ascii: " "), UInt8(ascii: "\t"): return continuation(line, of: last)
    default: break
    }
    guard let colon = HeaderLines.colon(in: line) else { return .other }
    let name = line.extracting(..<colon)
    let value = line.extracting(HeaderLines.trimmed(line, from: colon + 1))
    guard HeaderLines.isField(name, value) else { return .other }
    fields.append(name, value)
    return .field(fields.count - 1)
  }

  private mutating func continuation(_ line: Span<UInt8>, of last: Form) -> Form {
    let value = line.extracting(HeaderLines.trimmed(line, from: 0))
    switch last {
    case .field(let index), .continuation(let index):
      guard HeaderLines.isField([0x78].span, value) else { return .other }
      fields.continueLast(with: value)
      return .continuation(index)
    case .end, .other: return .other
    }
  }

  /// The lines with these fields; nil if the fields are the received ones. A field with another value takes the place
  /// of the earlier field, and new fields come last.
  package func lines(for wanted: HeaderFields) -> LineText? {
    let changes = fields.changes(to: wanted)
    if changes.lost.isEmpty, changes.added.isEmpty { return nil }
    var added = changes.added
    var result = LineText(capacity: text.count + lines.count + wanted.wireByteCount + wanted.count)
    for line in lines {
      switch line.form {
      case .field(let index) where changes.lost.contains(index):
        if let place = added.firstIndex(where: { isSameName(index, wanted, $0) }) {
          result.append(field: added.remove(at: place), of: wanted)
        }
      case .continuation(let index) where changes.lost.contains(index): break
      case .end:
        for index in added { result.append(field: index, of: wanted) }
        added = []
        result.append(line.range, of: text)
      case .field, .continuation, .other: result.append(line.range, of: text)
      }
    }
    for index in added { result.append(field: index, of: wanted) }
    return result
  }

  private func isSameName(_ index: Int, _ wanted: HeaderFields, _ place: Int) -> Bool {
    wanted.isName(at: place, fields.buffer.span.extracting(fields.nameRange(at: index)))
  }
}

extension LineText {
  /// A field as libcurl gives it to a program.
  fileprivate mutating func append(field index: Int, of fields: HeaderFields) {
    // The buffer contains the whole line, from the name to the end of the value.
    let range = fields.nameRange(at: index).lowerBound..<fields.valueRange(at: index).upperBound
    append(range, of: fields.buffer, ending: [0x0D, 0x0A])
  }
}
