package import SluiceJSON

/// A small configuration that a JSON schema allows. It has only the required members. The value of a member is the
/// schema's default, example or first choice, if the schema has one.
package struct ExampleConfiguration {
  /// A limit for the depth, because a schema can refer to itself.
  private static let deepest = 32

  private let root: JSONValue

  package init(schema: JSONValue) { root = schema }

  /// The configuration; nil if none can be derived from the schema, for instance from a pattern without an example.
  package var value: JSONValue? { make(root, depth: 0) }

  private func make(_ schema: JSONValue, depth: Int) -> JSONValue? {
    guard depth < Self.deepest else { return nil }
    if schema.bool == true { return .object() }
    guard schema.isObject else { return nil }
    for key in ["const", "default"] { if let value = schema[key] { return try? value.deepCopy() } }
    for key in ["enum", "examples"] { if let value = schema[key]?[0] { return try? value.deepCopy() } }
    if let reference = schema["$ref"]?.string { return target(of: reference).flatMap { make($0, depth: depth + 1) } }
    for key in ["anyOf", "oneOf"] {
      guard let choices = schema[key]?.elements, schema["type"] == nil else { continue }
      return choices.lazy.compactMap { make($0, depth: depth + 1) }.first { _ in true }
    }
    return make(schema, type: Self.type(of: schema), depth: depth)
  }

  private func make(_ schema: JSONValue, type: String?, depth: Int) -> JSONValue? {
    switch type {
    case "object": object(schema, depth: depth)
    case "array": array(schema, depth: depth)
    case "string": Self.string(schema)
    case "integer": JSONValue(Int64(exactly: Self.number(schema).rounded(.up)) ?? 0)
    case "number": JSONValue(Self.number(schema))
    case "boolean": false
    case "null": .null
    default: nil
    }
  }

  private static func type(of schema: JSONValue) -> String? {
    if let type = schema["type"]?.string { return type }
    if let types = schema["type"]?.texts { return types.first { $0 != "null" } ?? types.first }
    return schema["properties"] != nil || schema["required"] != nil ? "object" : nil
  }

  private func object(_ schema: JSONValue, depth: Int) -> JSONValue? {
    let object = JSONValue.object()
    for name in Self.required(schema) where object[name] == nil {
      guard let property = schema["properties"]?[name], let value = make(property, depth: depth + 1) else { return nil }
      object[name] = value
    }
    return object
  }

  /// The names that the schema requires, including those of its first choice (`anyOf`, `oneOf`) and of all its `allOf`.
  private static func required(_ schema: JSONValue) -> [String] {
    let choices = ["anyOf", "oneOf"].compactMap { schema[$0]?[0] } + (schema["allOf"].map { Array($0.elements) } ?? [])
    return ([schema] + choices).flatMap { $0["required"]?.texts ?? [] }
  }

  private func array(_ schema: JSONValue, depth: Int) -> JSONValue? {
    let array = JSONValue.array()
    guard let least = schema["minItems"]?.integer, least > 0 else { return array }
    guard least <= Self.deepest, let items = schema["items"] else { return nil }
    for _ in 0..<least {
      guard let item = make(items, depth: depth + 1) else { return nil }
      array.append(item)
    }
    return array
  }

  private static func string(_ schema: JSONValue) -> JSONValue? {
    guard schema["pattern"] == nil else { return nil }
    switch schema["format"]?.string {
    case "uri", "url", "uri-reference": return "http://127.0.0.1/"
    case "hostname": return "example.com"
    case "email": return "user@example.com"
    case "date-time": return "2000-01-01T00:00:00Z"
    case nil: break
    default: return nil
    }
    let length = max(1, schema["minLength"]?.integer ?? 1)
    return length <= 4096 ? JSONValue(String(repeating: "a", count: Int(length))) : nil
  }

  private static func number(_ schema: JSONValue) -> Double {
    if let least = schema["minimum"]?.number { return least }
    if let below = schema["exclusiveMinimum"]?.number { return below + 1 }
    return min(schema["maximum"]?.number ?? 0, 0)
  }

  /// Finds what a reference in the schema names: `#`, `#/definitions/name` or `#/$defs/name`.
  private func target(of reference: String) -> JSONValue? {
    guard reference.hasPrefix("#") else { return nil }
    return reference.dropFirst().split(separator: "/").reduce(Optional(root)) { found, name in
      found?[String(name).replacing("~1", with: "/").replacing("~0", with: "~")]
    }
  }
}

extension JSONValue {
  /// The strings of a list; empty for anything else.
  fileprivate var texts: [String] { elements.compactMap(\.string) }
}
