import SluiceHTTP1
import SluiceMessages

/// The names that the `Connection` fields of a message list. A field with such a name belongs to one connection, and is
/// not passed on (RFC 9110 §7.6.1).
struct ConnectionOptions {
  /// More options than any message needs. Each is compared with each field, so their number is limited.
  private static let maximumCount = 32

  /// In lower case.
  private var listed: [String] = []
  /// Whether there are more options than can be handled.
  private(set) var isTooLong = false

  init(_ fields: HeaderFields) {
    let name = "connection".utf8.span
    var next = fields.firstIndex(named: name)
    while let index = next {
      FieldLine.forEachMember(of: fields.buffer.span.extracting(fields.valueRange(at: index))) { option in
        // Every recipient needs `Host`, so a client cannot remove it.
        if option.isEmpty || FieldSyntax.equals(option, "host") { return }
        guard listed.count < Self.maximumCount else { return isTooLong = true }
        listed.append(String(copying: option).lowercased())
      }
      next = fields.firstIndex(named: name, from: index + 1)
    }
  }

  var isEmpty: Bool { listed.isEmpty }

  /// Whether the field is among them.
  func names(_ name: Span<UInt8>) -> Bool {
    for option in listed where FieldSyntax.equals(name, text: option) { return true }
    return false
  }
}
