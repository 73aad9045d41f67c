struct ObjectWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let object: JSONValue
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) { object[key.stringValue] = .null }

  /// Called for scalars too. The `encode(to:)` of a scalar in the standard library writes to a single-value container.
  func encode(_ value: some Encodable, forKey key: Key) throws {
    try place(key).encode(value, codingPath: codingPath + [key])
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    ValueEncoder(place: place(key), codingPath: codingPath + [key]).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ValueEncoder(place: place(key), codingPath: codingPath + [key]).unkeyedContainer()
  }

  /// A superclass writes its members into the same object as its subclass.
  func superEncoder() -> any Encoder {
    let place = EncodedPlace()
    place.put(object)
    return ValueEncoder(place: place, codingPath: codingPath)
  }

  func superEncoder(forKey key: Key) -> any Encoder {
    ValueEncoder(place: place(key), codingPath: codingPath + [key])
  }

  private func place(_ key: Key) -> EncodedPlace { EncodedPlace { [object] in object[key.stringValue] = $0 } }
}
