package import SluiceMessages

extension JSONValue {
  package convenience init(_ value: AttributeValue) {
    switch value {
    case .text(let text): self.init(text)
    case .integer(let integer): self.init(integer)
    case .number(let number): self.init(number)
    case .bool(let bool): self.init(bool)
    }
  }

  /// The attributes as an object, with secrets redacted; nil if there are none.
  package static func shown(_ attributes: AttributeList) -> JSONValue? {
    guard !attributes.isEmpty else { return nil }
    let object = JSONValue.object()
    for attribute in attributes { object[attribute.name] = JSONValue(attribute.shownValue) }
    return object
  }
}
