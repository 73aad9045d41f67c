/// The id of a result: a JSON scalar, as text.
package struct ResultID: Sendable, Hashable {
  package let text: [UInt8]

  /// - Parameter text: a JSON scalar, spelled as ``JSONValue/serialized(_:limitBytes:)`` spells it.
  package init(text: [UInt8]) { self.text = text }

  /// The number of a line.
  package init(line: Int) { text = Array("\(line)".utf8) }

  /// `null` if the value cannot be written as JSON. A parsed value can always be written.
  package init(_ value: JSONValue) { text = (try? value.serialized()) ?? Array("null".utf8) }
}
