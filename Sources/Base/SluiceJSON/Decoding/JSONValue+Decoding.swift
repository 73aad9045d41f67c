/// What to do with members for which a type has no coding key.
public enum UnknownKeys: Sendable {
  case ignored
  /// Throw an error that names the first unknown key. For configurations, where an unknown key is a misspelling.
  case refused
}

extension JSONValue {
  /// Reads the value as a Swift type through `Decodable`.
  ///
  /// Numbers are not rounded: 1.5 is not an `Int`, and 300 is not a `UInt8`. For an optional property, a null member
  /// counts as absent. Throws ``JSONDecodingError``, or the error of the type's own `init(from:)`.
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
  /// Shares the value that is being decoded instead of copying it. Call it only from within ``decode(_:unknownKeys:)``.
  public convenience init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? ValueDecoder else {
      throw JSONDecodingError(decoder.codingPath, "only a decoder for JSON can read a JSON value")
    }
    self.init(adopting: decoder.value.retainedUnsafeJSON())
  }
}

extension JSONDecodingError {
  /// Converts a `DecodingError`, which types of the standard library throw.
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
