import CSluice
import SluiceMessages

extension Attribute {
  /// Copies what the host lends; nil for a kind that the SDK does not know.
  init?(_ raw: sluice_attribute) {
    let value: AttributeValue
    switch Int(raw.kind) {
    case Int(SLUICE_ATTRIBUTE_TEXT): value = .text(String(raw.text))
    case Int(SLUICE_ATTRIBUTE_INTEGER): value = .integer(raw.integer)
    case Int(SLUICE_ATTRIBUTE_NUMBER): value = .number(raw.number)
    case Int(SLUICE_ATTRIBUTE_BOOL): value = .bool(raw.integer != 0)
    default: return nil
    }
    self.init(String(raw.name), value, isSensitive: raw.flags & UInt32(SLUICE_ATTRIBUTE_SENSITIVE) != 0)
  }

  /// Lends attributes to `body` for the duration of the call. All their texts are in one piece of memory.
  static func lend<Result>(
    _ records: some Collection<Attribute>, _ body: (UnsafeBufferPointer<sluice_attribute>) -> Result
  ) -> Result {
    var texts: [UInt8] = []
    for record in records {
      texts += record.name.utf8
      if case .text(let text) = record.value { texts += text.utf8 }
    }
    return texts.withUnsafeBytes { bytes in
      var rest = bytes[...]
      func next(_ text: String) -> sluice_text {
        let taken = UnsafeRawBufferPointer(rebasing: rest.prefix(text.utf8.count))
        rest = rest.dropFirst(text.utf8.count)
        return sluice_text(taken)
      }
      return records.map { record in
        var raw = sluice_attribute()
        raw.name = next(record.name)
        raw.flags = record.isSensitive ? UInt32(SLUICE_ATTRIBUTE_SENSITIVE) : 0
        switch record.value {
        case .text(let text):
          raw.kind = UInt32(SLUICE_ATTRIBUTE_TEXT)
          raw.text = next(text)
        case .integer(let integer):
          raw.kind = UInt32(SLUICE_ATTRIBUTE_INTEGER)
          raw.integer = integer
        case .number(let number):
          raw.kind = UInt32(SLUICE_ATTRIBUTE_NUMBER)
          raw.number = number
        case .bool(let bool):
          raw.kind = UInt32(SLUICE_ATTRIBUTE_BOOL)
          raw.integer = bool ? 1 : 0
        }
        return raw
      }.withUnsafeBufferPointer(body)
    }
  }
}
