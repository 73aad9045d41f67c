package import SluiceMessages

/// The headers that a program has given to libcurl, line by line, and the fields in them.
///
/// What the pipeline leaves alone goes back to libcurl as it came, byte by byte: libcurl gives lines a meaning that
/// fields do not have. `Name:` keeps libcurl from sending a header, and `Name;` sends one without a value.
package struct HeaderLines: Sendable {
  private enum Form: Sendable {
    /// The position in ``fields``.
    case field(Int)
    case suppression(name: [UInt8])
    /// Neither; stages do not see it.
    case other
  }

  private var lines: [(text: [UInt8], form: Form)] = []
  /// What stages see: the fields of the lines, then those that libcurl makes from other options.
  package private(set) var fields = HeaderFields()
  /// Without values: what libcurl must not make.
  private var suppressed = HeaderFields()

  package init() {}

  /// Adds a line of the program.
  package mutating func append(line: [UInt8]) {
    guard let end = line.firstIndex(of: UInt8(ascii: ":")) else { return appendWithoutValue(line) }
    let (name, value) = (line[..<end], Self.trimmed(line[(end + 1)...]))
    guard (try? HeaderFields.check(name: name.span, value: value.span)) != nil else {
      return lines.append((line, .other))
    }
    if value.isEmpty {
      suppressed.append(name.span, value.span)
      return lines.append((line, .suppression(name: Array(name))))
    }
    lines.append((line, .field(fields.count)))
    fields.append(name.span, value.span)
  }

  private mutating func appendWithoutValue(_ line: [UInt8]) {
    let name = Array(line.dropLast())
    guard line.last == UInt8(ascii: ";"), FieldSyntax.isToken(name.span) else {
      return lines.append((line, .other))
    }
    lines.append((line, .field(fields.count)))
    fields.append(name.span, name.span.extracting(0..<0))
  }

  /// Adds a header that libcurl makes from another option; call it after the last line.
  package mutating func append(made line: [UInt8]) {
    guard let end = line.firstIndex(of: UInt8(ascii: ":")) else { return }
    let (name, value) = (line[..<end], Self.trimmed(line[(end + 1)...]))
    guard (try? HeaderFields.check(name: name.span, value: value.span)) != nil else { return }
    // A line of the program takes its place, also one that keeps it from being sent.
    guard fields.firstIndex(named: name.span) == nil, suppressed.firstIndex(named: name.span) == nil else { return }
    fields.append(name.span, value.span)
  }

  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }
    guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return bytes[first...last]
  }

  /// As the program gave them.
  package var own: [[UInt8]] { lines.map(\.text) }

  /// The lines that make libcurl send these fields; nil if the program's own do.
  package func lines(for wanted: HeaderFields) -> [[UInt8]]? {
    var isLeft = [Bool](repeating: true, count: wanted.count)
    let kept = fields.indices.map { take($0, from: wanted, &isLeft) }
    if !kept.contains(false), !isLeft.contains(true) { return nil }
    var result: [[UInt8]] = []
    for line in lines {
      switch line.form {
      case .field(let index): if kept[index] { result.append(line.text) }
      case .suppression(let name): if wanted.firstIndex(named: name.span) == nil { result.append(line.text) }
      case .other: result.append(line.text)
      }
    }
    for index in fields.indices where !kept[index] {
      let name = fields.buffer[fields.nameRange(at: index)]
      if wanted.firstIndex(named: name.span) == nil { result.append(name + [UInt8(ascii: ":")]) }
    }
    for index in wanted.indices where isLeft[index] { result.append(Self.line(of: wanted, at: index)) }
    return result
  }

  /// Whether one of the wanted fields that are left is this one; it is taken then.
  private func take(_ index: Int, from wanted: HeaderFields, _ isLeft: inout [Bool]) -> Bool {
    guard let same = wanted.firstIndex(ofFieldAt: index, in: fields, among: isLeft) else { return false }
    isLeft[same] = false
    return true
  }

  private static func line(of fields: HeaderFields, at index: Int) -> [UInt8] {
    let (name, value) = (fields.nameRange(at: index), fields.valueRange(at: index))
    if value.isEmpty { return fields.buffer[name] + [UInt8(ascii: ";")] }
    // The buffer has the field as a line.
    return Array(fields.buffer[name.lowerBound..<value.upperBound])
  }
}
