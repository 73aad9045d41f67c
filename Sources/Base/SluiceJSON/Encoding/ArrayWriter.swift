struct ArrayWriter: UnkeyedEncodingContainer {
  let array: JSONValue
  let codingPath: [any CodingKey]
  var count: Int { array.count }

  func encodeNil() { array.append(.null) }

  func encode(_ value: some Encodable) throws {
    // Each call adds its element to the array before it returns, so that the elements have the order of the calls.
    try EncodedPlace { [array] in array.append($0) }.encode(value, codingPath: codingPath)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder() }

  private func encoder() -> ValueEncoder {
    ValueEncoder(place: EncodedPlace { [array] in array.append($0) }, codingPath: codingPath)
  }
}
