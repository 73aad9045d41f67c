/// What becomes of members that a type has no coding key for.
public enum UnknownKeys: Sendable {
  case ignored
  /// An error that names the first one; for configurations, where it is a misspelling.
  case refused
}

extension JSONValue {
  /// Reads the value as a Swift type through `Decodable`.
  ///
  /// Numbers are not rounded: 1.5 is no `Int`, and 300 no `UInt8`. A member that is null counts as absent for an
  /// optional property. Throws ``JSONDecodingError``, or what the type's own `init(from:)` throws.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, unknownKeys: UnknownKeys = .ignored
  ) throws -> Value {
    do {
      return try ValueDecoder(value: self, codingPath: [], unknownKeys: unknownKeys).decode(type)
    } catch let error as DecodingError {
      throw JSONDecodingError(error)
    }
  }
}

extension JSONValue: Decodable {
  /// Takes the value itself, not a copy; only from within ``decode(_:unknownKeys:)``.
  public convenience init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? ValueDecoder else {
      throw JSONDecodingError(decoder.codingPath, "a JSON value can only be read from JSON")
    }
    self.init(adopting: decoder.value.retainedUnsafeJSON())
  }
}

extension JSONDecodingError {
  /// What the standard library's own types throw, in the same words.
  init(_ error: DecodingError) {
    switch error {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      self.init(context.codingPath, context.debugDescription)
    case .keyNotFound(let key, let context):
      self.init(context.codingPath + [key], "is missing")
    @unknown default:
      self.init(keyPath: "", message: "\(error)")
    }
  }
}
