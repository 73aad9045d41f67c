public import SluiceMessages

extension TypedBody {
  /// The JSON text of a value, as `application/json`: `Request(url: url, body: .json(item))`.
  ///
  /// - Throws: the errors of ``JSONValue/init(encoding:)``, and ``JSONError`` for a value that is nested too deep.
  public static func json(_ value: some Encodable) throws -> TypedBody { try json(JSONValue(encoding: value)) }

  /// The text of a JSON value, as `application/json`.
  public static func json(_ value: JSONValue) throws -> TypedBody {
    TypedBody(.bytes(try value.serialized()), contentType: BodyDocument.jsonMediaType)
  }
}
