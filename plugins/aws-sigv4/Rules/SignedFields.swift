/// The header fields that a signature covers. Values are bytes, because they need not be UTF-8.
package struct SignedFields: Sendable {
  private var values: [String: [UInt8]] = [:]

  package init() {}

  /// Adds a line. The values of repeated fields are joined by commas, in their order.
  ///
  /// - Parameter name: in lower case.
  package mutating func append(_ name: String, _ value: some Collection<UInt8>) {
    let value = Self.collapsed(value)
    if values[name] == nil { values[name] = value } else { values[name]? += [UInt8(ascii: ",")] + value }
  }

  func contains(_ name: String) -> Bool { values[name] != nil }

  /// The fields, sorted by name.
  var lines: [(name: String, value: [UInt8])] {
    values.map { (name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
  }

  /// The value without spaces at its ends, and with each run of spaces inside replaced by one space.
  private static func collapsed(_ value: some Collection<UInt8>) -> [UInt8] {
    let words = value.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return Array(words.joined(separator: [UInt8(ascii: " ")]))
  }
}
