import SluiceMessages

/// A value that is being decoded, and the path to it from the top.
struct ValueDecoder: Decoder {
  let value: JSONValue
  let codingPath: [any CodingKey]
  let unknownKeys: UnknownKeys
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try Value(from: self)
  }

  /// The decoder of a member or element.
  func descend(to child: JSONValue, _ key: any CodingKey) -> ValueDecoder {
    ValueDecoder(value: child, codingPath: codingPath + [key], unknownKeys: unknownKeys)
  }

  func mismatch(_ expected: String) -> JSONDecodingError {
    JSONDecodingError(codingPath, "expected \(expected), found \(value.kind.article)")
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard value.isObject else { throw mismatch("an object") }
    if unknownKeys == .refused {
      for (name, _) in value.members where Key(stringValue: name) == nil {
        throw JSONDecodingError(
          codingPath, "the key \(PlainText.quote(name)) is unknown; remove it or correct its spelling")
      }
    }
    return KeyedDecodingContainer(ObjectContainer<Key>(decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard value.isArray else { throw mismatch("an array") }
    return ArrayContainer(decoder: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ScalarContainer(decoder: self)
  }
}

extension ValueDecoder {
  func string() throws -> String {
    guard let string = value.string else { throw mismatch("a string") }
    return string
  }

  func bool() throws -> Bool {
    guard let bool = value.bool else { throw mismatch("true or false") }
    return bool
  }

  func real() throws -> Double {
    guard let number = value.number else { throw mismatch("a number") }
    return number
  }

  func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) throws -> Integer {
    guard let integer = value.integer else { throw mismatch("an integer") }
    guard let exact = Integer(exactly: integer) else {
      throw JSONDecodingError(codingPath, "expected a number from \(type.min) to \(type.max), found \(integer)")
    }
    return exact
  }
}

extension JSONValue.Kind {
  /// The kind of the value as part of a sentence.
  fileprivate var article: String {
    switch self {
    case .object: "an object"
    case .array: "an array"
    case .string: "a string"
    case .integer, .real: "a number"
    case .boolean: "true or false"
    case .null: "null"
    }
  }
}
