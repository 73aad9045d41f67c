struct ObjectWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let object: JSONValue
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) { object[key.stringValue] = .null }

  /// Scalars come here too: the standard library has them write themselves into a container for one value.
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

  func superEncoder() -> any Encoder { encoder("super") }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(key.stringValue) }

  private func encoder(_ name: String) -> any Encoder {
    ValueEncoder(place: EncodedPlace { [object] in object[name] = $0 }, codingPath: codingPath)
  }

  private func place(_ key: Key) -> EncodedPlace { EncodedPlace { [object] in object[key.stringValue] = $0 } }
}
