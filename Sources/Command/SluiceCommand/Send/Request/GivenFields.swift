import SluiceMessages

/// The fields of `-H`, and of the files that `-H` names, in curl's forms: `Name: value`, `Name;` for an empty value, and
/// `Name:` to remove a field.
///
/// They win: an option that would build a field with a name that is given or removed here builds none, as with curl.
struct GivenFields {
  /// The value is nil if the field is removed.
  private(set) var fields: [(name: [UInt8], value: [UInt8]?)] = []

  /// - Parameter lines: the values of `-H`. `@FILE` stands for the lines of the file.
  init(_ lines: [[UInt8]]) throws(CommandError) {
    for line in lines {
      guard let path = try DataReader.path(ArgumentWord(line), "-H") else {
        try append(line)
        continue
      }
      let content = try DataReader(limitBytes: 1 << 20).text(ofFile: path, "-H")
      for line in content.split(separator: UInt8(ascii: "\n")) {
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        if !line.isEmpty, line.first != UInt8(ascii: "#") { try append(Array(line)) }
      }
    }
  }

  private mutating func append(_ line: [UInt8]) throws(CommandError) {
    if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      let value = Array(line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
      fields.append((Array(line[..<colon]), value.isEmpty ? nil : value))
    } else if line.last == UInt8(ascii: ";") {
      fields.append((Array(line.dropLast()), []))
    } else {
      throw CommandError(.usage, "-H: expected \"NAME: VALUE\", found \(PlainText.quote(line.span))")
    }
  }

  /// Whether a field is given or removed.
  /// - Parameter name: in lower case.
  func contains(_ name: String) -> Bool { fields.contains { FieldSyntax.equals($0.name.span, text: name) } }
}
