struct ScalarWriter: SingleValueEncodingContainer {
  let place: EncodedPlace
  let codingPath: [any CodingKey]

  func encodeNil() { place.put(.null) }
  func encode(_ value: Bool) { place.put(JSONValue(value)) }
  func encode(_ value: String) { place.put(JSONValue(value)) }
  func encode(_ value: Double) throws { place.put(try real(value)) }
  /// The shortest form of a `Float` reads back the same `Float`, and is shorter than that of the equal `Double`.
  func encode(_ value: Float) throws { place.put(try real(Double(value.description) ?? Double(value))) }
  func encode(_ value: Int) { place.put(JSONValue(Int64(value))) }
  func encode(_ value: Int8) { place.put(JSONValue(Int64(value))) }
  func encode(_ value: Int16) { place.put(JSONValue(Int64(value))) }
  func encode(_ value: Int32) { place.put(JSONValue(Int64(value))) }
  func encode(_ value: Int64) { place.put(JSONValue(value)) }
  func encode(_ value: UInt) throws { place.put(try integer(UInt64(value))) }
  func encode(_ value: UInt8) { place.put(JSONValue(Int64(value))) }
  func encode(_ value: UInt16) { place.put(JSONValue(Int64(value))) }
  func encode(_ value: UInt32) { place.put(JSONValue(Int64(value))) }
  func encode(_ value: UInt64) throws { place.put(try integer(value)) }
  func encode(_ value: some Encodable) throws { try place.encode(value, codingPath: codingPath) }

  private func real(_ value: Double) throws -> JSONValue {
    guard value.isFinite else { throw error(value, "\(value) is not a JSON number") }
    return JSONValue(value)
  }

  private func integer(_ value: UInt64) throws -> JSONValue {
    guard let integer = Int64(exactly: value) else {
      throw error(value, "\(value) does not fit into a signed 64-bit integer")
    }
    return JSONValue(integer)
  }

  private func error(_ value: Any, _ words: String) -> EncodingError {
    .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: words))
  }
}
