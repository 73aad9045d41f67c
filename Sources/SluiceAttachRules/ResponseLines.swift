package import SluiceMessages

/// The head of a response line by line, as libcurl gives it to a program, and the fields in it.
///
/// What stages leave alone goes to the program as it came, byte by byte.
package struct ResponseLines: Sendable {
  private enum Form: Sendable {
    /// The position in ``fields``.
    case field(Int)
    /// Belongs to the field before (RFC 9112 §5.2).
    case continuation(Int)
    /// The empty line.
    case end
    /// The status line, what is not a field, and what comes after the head; stages do not see it.
    case other
  }

  private var lines: [(text: [UInt8], form: Form)] = []
  package private(set) var fields = HeaderFields()
  private var hasEnded = false

  package init() {}

  /// Adds a line with its line end; the first one is the status line.
  package mutating func append(line: [UInt8]) { lines.append((line, form(of: line))) }

  private mutating func form(of line: [UInt8]) -> Form {
    guard let last = lines.last?.form, !hasEnded else { return .other }
    switch line.first {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"), nil:
      hasEnded = true
      return .end
    case UInt8(ascii: " "), UInt8(ascii: "\t"): return continuation(line, of: last)
    default: break
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return .other }
    let (name, value) = (line[..<colon], HeaderLines.trimmed(line[(colon + 1)...]))
    guard (try? HeaderFields.check(name: name.span, value: value.span)) != nil else { return .other }
    fields.append(name.span, value.span)
    return .field(fields.count - 1)
  }

  private mutating func continuation(_ line: [UInt8], of last: Form) -> Form {
    let value = HeaderLines.trimmed(line[...])
    switch last {
    case .field(let index), .continuation(let index):
      guard (try? HeaderFields.check(name: [0x78].span, value: value.span)) != nil else { return .other }
      fields.continueLast(with: value.span)
      return .continuation(index)
    case .end, .other: return .other
    }
  }

  /// The lines with these fields; nil if they are those that came. A field with another value takes the place of the
  /// one before, and what is new comes last.
  package func lines(for wanted: HeaderFields) -> [[UInt8]]? {
    var isLeft = [Bool](repeating: true, count: wanted.count)
    let isKept = fields.indices.map { index in
      guard let same = wanted.firstIndex(ofFieldAt: index, in: fields, among: isLeft) else { return false }
      isLeft[same] = false
      return true
    }
    if !isKept.contains(false), !isLeft.contains(true) { return nil }
    var result: [[UInt8]] = []
    for line in lines {
      switch line.form {
      case .field(let index):
        if isKept[index] {
          result.append(line.text)
        } else if let other = replacement(of: index, in: wanted, isLeft) {
          isLeft[other] = false
          result.append(Self.line(of: wanted, at: other))
        }
      case .continuation(let index): if isKept[index] { result.append(line.text) }
      case .end:
        appendRest(of: wanted, &isLeft, to: &result)
        result.append(line.text)
      case .other: result.append(line.text)
      }
    }
    appendRest(of: wanted, &isLeft, to: &result)
    return result
  }

  private func replacement(of index: Int, in wanted: HeaderFields, _ isLeft: [Bool]) -> Int? {
    let name = fields.buffer[fields.nameRange(at: index)]
    return wanted.indices.first { isLeft[$0] && wanted.isName(at: $0, name.span) }
  }

  private func appendRest(of wanted: HeaderFields, _ isLeft: inout [Bool], to result: inout [[UInt8]]) {
    for index in wanted.indices where isLeft[index] {
      isLeft[index] = false
      result.append(Self.line(of: wanted, at: index))
    }
  }

  private static func line(of fields: HeaderFields, at index: Int) -> [UInt8] {
    // The buffer has the field as a line.
    fields.buffer[fields.nameRange(at: index).lowerBound..<fields.valueRange(at: index).upperBound] + [0x0D, 0x0A]
  }
}
