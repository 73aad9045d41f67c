package import SluiceMessages

/// The headers that a program has given to libcurl, line by line, and the fields in them.
///
/// Lines that the pipeline does not change go back to libcurl byte by byte, because lines can have a meaning for
/// libcurl that fields do not have. `Name:` keeps libcurl from sending a header, and `Name;` sends a header without a
/// value.
package struct HeaderLines: Sendable {
  private enum Form: Sendable {
    /// The position in ``fields``.
    case field(Int)
    /// The line is a name and a colon: it suppresses the header.
    case suppression(nameCount: Int)
    /// Any other line; stages do not see it.
    case other
  }

  private var text: [UInt8] = []
  private var lines: [(range: Range<Int>, form: Form)] = []
  /// The fields that stages see: first those of the lines, then those that libcurl makes from other options.
  package private(set) var fields = HeaderFields()
  /// The names of the headers that libcurl must not add, without values.
  private var suppressed = HeaderFields()

  package init() {}

  /// Adds a line of the program. The line must not contain a NUL.
  package mutating func append(line: Span<UInt8>) {
    lines.append((text.append(line: line), form(of: line)))
  }

  private mutating func form(of line: Span<UInt8>) -> Form {
    guard let colon = Self.colon(in: line) else { return formWithoutColon(line) }
    let name = line.extracting(..<colon)
    let value = line.extracting(Self.trimmed(line, from: colon + 1))
    guard Self.isField(name, value) else { return .other }
    if value.isEmpty {
      suppressed.append(name, value)
      return .suppression(nameCount: colon)
    }
    fields.append(name, value)
    return .field(fields.count - 1)
  }

  private mutating func formWithoutColon(_ line: Span<UInt8>) -> Form {
    guard line.count > 1, line[line.count - 1] == UInt8(ascii: ";") else { return .other }
    let name = line.extracting(..<(line.count - 1))
    guard FieldSyntax.isToken(name) else { return .other }
    fields.append(name, name.extracting(0..<0))
    return .field(fields.count - 1)
  }

  /// Adds a header that libcurl makes from another option; call it after the last line.
  package mutating func append(made line: Span<UInt8>) {
    guard let colon = Self.colon(in: line) else { return }
    let name = line.extracting(..<colon)
    let value = line.extracting(Self.trimmed(line, from: colon + 1))
    guard Self.isField(name, value) else { return }
    // A line of the program replaces this header, even a line that only suppresses it.
    guard fields.firstIndex(named: name) == nil, suppressed.firstIndex(named: name) == nil else { return }
    fields.append(name, value)
  }

  static func colon(in line: Span<UInt8>) -> Int? { line.indices.first { line[$0] == UInt8(ascii: ":") } }

  static func isField(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
    (try? HeaderFields.check(name: name, value: value)) != nil
  }

  /// The range of the text from a position on, without the blanks and line ends at both sides.
  static func trimmed(_ line: Span<UInt8>, from start: Int) -> Range<Int> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    var (first, end) = (start, line.count)
    while first < end, isBlank(line[first]) { first += 1 }
    while end > first, isBlank(line[end - 1]) { end -= 1 }
    return first..<end
  }

  /// The lines as the program gave them.
  package var own: LineText {
    var own = LineText(capacity: text.count + lines.count)
    for line in lines { own.append(line.range, of: text) }
    return own
  }

  /// The lines that make libcurl send these fields; nil if the program's own lines already do so.
  package func lines(for wanted: HeaderFields) -> LineText? {
    let changes = fields.changes(to: wanted)
    if changes.lost.isEmpty, changes.added.isEmpty { return nil }
    var result = LineText(capacity: text.count + 2 * lines.count + wanted.wireByteCount)
    var isChanged = false
    for line in lines where isLeft(line, changes.lost, wanted) {
      // A line that ends with a line break ends the head: what comes after it would be taken for another request.
      if !isChanged, hasLineBreak(line.range) {
        append(changes, wanted, to: &result)
        isChanged = true
      }
      result.append(line.range, of: text)
    }
    if !isChanged { append(changes, wanted, to: &result) }
    return result
  }

  private func append(_ changes: (lost: [Int], added: [Int]), _ wanted: HeaderFields, to result: inout LineText) {
    for index in changes.lost {
      let name = fields.nameRange(at: index)
      if wanted.firstIndex(named: fields.buffer.span.extracting(name)) == nil {
        result.append(name, of: fields.buffer, ending: [UInt8(ascii: ":")])
      }
    }
    for index in changes.added { result.append(field: index, of: wanted) }
  }

  private func hasLineBreak(_ range: Range<Int>) -> Bool { range.contains { text[$0] == 0x0A || text[$0] == 0x0D } }

  private func isLeft(_ line: (range: Range<Int>, form: Form), _ lost: [Int], _ wanted: HeaderFields) -> Bool {
    switch line.form {
    case .field(let index): return !lost.contains(index)
    case .suppression(let count):
      let start = line.range.lowerBound
      return wanted.firstIndex(named: text.span.extracting(start..<start + count)) == nil
    case .other: return true
    }
  }
}

extension LineText {
  fileprivate mutating func append(field index: Int, of fields: HeaderFields) {
    let (name, value) = (fields.nameRange(at: index), fields.valueRange(at: index))
    if value.isEmpty { return append(name, of: fields.buffer, ending: [UInt8(ascii: ";")]) }
    // The buffer contains the whole line, from the name to the end of the value.
    append(name.lowerBound..<value.upperBound, of: fields.buffer)
  }
}
