/// The elements of an array, one after the other.
struct ArrayContainer: UnkeyedDecodingContainer {
  let decoder: ValueDecoder
  private(set) var currentIndex = 0

  init(decoder: ValueDecoder) {
    self.decoder = decoder
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { decoder.value.count }
  var isAtEnd: Bool { currentIndex >= decoder.value.count }

  /// The decoder of the next element. The index advances even if reading the element fails. This does no harm, because
  /// a failure ends the whole decoding.
  private mutating func next() throws -> ValueDecoder {
    let key = IndexKey(currentIndex)
    guard let element = decoder.value[currentIndex] else {
      throw JSONDecodingError(codingPath + [key], "is missing; the array ends before it")
    }
    currentIndex += 1
    return decoder.descend(to: element, key)
  }

  mutating func decodeNil() throws -> Bool {
    guard decoder.value[currentIndex]?.isNull == true else { return false }
    currentIndex += 1
    return true
  }

  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try next().container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
  mutating func superDecoder() throws -> any Decoder { try next() }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }
  mutating func decode(_ type: Bool.Type) throws -> Bool { try next().bool() }
  mutating func decode(_ type: String.Type) throws -> String { try next().string() }
  mutating func decode(_ type: Double.Type) throws -> Double { try next().real() }
  mutating func decode(_ type: Float.Type) throws -> Float { Float(try next().real()) }
  mutating func decode(_ type: Int.Type) throws -> Int { try next().integer(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try next().integer(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try next().integer(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try next().integer(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try next().integer(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try next().integer(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next().integer(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next().integer(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next().integer(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next().integer(type) }
}
