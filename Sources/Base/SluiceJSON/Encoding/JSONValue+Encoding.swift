extension JSONValue {
  /// Writes a Swift value as JSON through `Encodable`; ``decode(_:unknownKeys:)`` reads it again.
  ///
  /// A property that is nil is left out. Throws `EncodingError` for an integer beyond signed 64 bits and for a number
  /// that is not finite. Passes on the errors of the value's own `encode(to:)`.
  public convenience init(encoding value: some Encodable) throws {
    let place = EncodedPlace()
    try place.encode(value, codingPath: [])
    self.init(adopting: (place.value ?? .object()).retainedUnsafeJSON())
  }
}

extension JSONValue: Encodable {
  /// Inserts the value into the result without copying it. Call it only from within ``init(encoding:)``.
  public func encode(to encoder: any Encoder) throws {
    guard let encoder = encoder as? ValueEncoder else {
      throw EncodingError.invalidValue(
        self,
        EncodingError.Context(
          codingPath: encoder.codingPath, debugDescription: "only an encoder for JSON can write a JSON value"))
    }
    encoder.place.put(self)
  }
}

/// The place where a value is written: a member, an element, or the top.
final class EncodedPlace {
  private(set) var value: JSONValue?
  private let attach: (JSONValue) -> Void

  init(_ attach: @escaping (JSONValue) -> Void = { _ in }) { self.attach = attach }

  func put(_ value: JSONValue) {
    self.value = value
    attach(value)
  }

  /// The object or array at this place; a new one if there is none.
  func container(_ kind: JSONValue.Kind, _ make: () -> JSONValue) -> JSONValue {
    if let value, value.kind == kind { return value }
    let made = make()
    put(made)
    return made
  }

  func encode(_ value: some Encodable, codingPath: [any CodingKey]) throws {
    try value.encode(to: ValueEncoder(place: self, codingPath: codingPath))
    if self.value == nil { put(.object()) }
  }
}

struct ValueEncoder: Encoder {
  let place: EncodedPlace
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(
      ObjectWriter(object: place.container(.object, JSONValue.object), codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ArrayWriter(array: place.container(.array, JSONValue.array), codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { ScalarWriter(place: place, codingPath: codingPath) }
}
