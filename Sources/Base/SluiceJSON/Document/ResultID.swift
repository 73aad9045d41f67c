/// The id of a result: a JSON scalar, as text.
package struct ResultID: Sendable, Hashable {
  package let text: [UInt8]

  /// - Parameter text: a JSON scalar: a number as it was given, any other value spelled as
  ///   ``JSONValue/serialized(_:limitBytes:)`` spells it.
  package init(text: [UInt8]) { self.text = text }

  /// The number of a line.
  package init(line: Int) { text = Array("\(line)".utf8) }

  /// The `id` of a document, with the spelling of a number in the text from which the document was parsed: `20.50`,
  /// `1e3` and `-0` stay. Nil if the document has no member that can be an id.
  package init?(of document: JSONValue, text: UnsafeRawBufferPointer) {
    guard let value = Self.value(in: document) else { return nil }
    let spelled = value.number != nil ? JSONLocator(Array(text)).compactText(of: JSONPointer(tokens: ["id"])) : nil
    self = spelled.map { ResultID(text: $0) } ?? ResultID(value)
  }

  /// The member of a document that is its id; nil if it has none that can be an id.
  package static func value(in document: JSONValue) -> JSONValue? {
    document["id"].flatMap { $0.isObject || $0.isArray ? nil : $0 }
  }

  /// `null` if the value cannot be written as JSON. A parsed value can always be written.
  package init(_ value: JSONValue) { text = (try? value.serialized()) ?? Array("null".utf8) }
}
