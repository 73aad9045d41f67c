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
      let name = Array(line[..<colon])
      let value = Array(line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
      guard !value.isEmpty || !Self.indispensable.contains(where: { FieldSyntax.equals(name.span, text: $0) }) else {
        throw CommandError(
          .usage,
          "-H: \(PlainText.quote(name.span)) cannot be removed: a server needs it to tell where the request goes or ends"
        )
      }
      fields.append((name, value.isEmpty ? nil : value))
    } else if line.last == UInt8(ascii: ";") {
      fields.append((Array(line.dropLast()), []))
    } else {
      throw CommandError(.usage, "-H: expected \"NAME: VALUE\", found \(PlainText.quote(line.span))")
    }
  }

  /// Whether a field is given or removed.
  /// - Parameter name: in lower case.
  func contains(_ name: String) -> Bool { fields.contains { FieldSyntax.equals($0.name.span, text: name) } }

  /// Adds the fields to a request, and removes those that are to be removed.
  /// - Parameter keepsOwn: whether a field that the request already has stays as it is.
  func apply(to request: inout Request, keepsOwn: Bool = false) {
    let own = keepsOwn ? request.headers : HeaderFields()
    for field in fields where own.firstIndex(named: field.name.span) == nil {
      if let value = field.value {
        Self.append(field.name, value, to: &request.headers)
      } else {
        Self.remove(field.name, from: &request)
      }
    }
  }

  /// Removes the fields with this name that were given earlier, and the default field of this name.
  static func remove(_ name: [UInt8], from request: inout Request) {
    request.headers.remove(named: name.span)
    if let field = DefaultFields(named: String(decoding: name, as: UTF8.self)) { request.omittedDefaults.insert(field) }
  }

  static func append(_ name: [UInt8], _ value: [UInt8], to headers: inout HeaderFields) {
    if FieldSyntax.equals(name.span, "content-type") { headers.remove(named: name.span) }
    headers.append(name.span, value.span)
  }

  /// Fields that cannot be removed (RFC 9112 §3.2 and §6).
  private static let indispensable = ["host", "content-length", "transfer-encoding"]
}
