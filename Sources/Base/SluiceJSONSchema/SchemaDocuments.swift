import SluiceJSON

/// A schema with the documents that it may refer to. Finds the target of each `$ref`; nothing is fetched.
struct SchemaDocuments {
  /// Copies of the documents. They must stay alive, because the properties below identify the values in them by
  /// address. A copy is a tree, so each schema is in only one place and has one base URI.
  private var copies: [JSONValue] = []
  private var bases: [JSONValue.Place: SchemaURI] = [:]
  private var resources: [String: JSONValue] = [:]
  /// The final target of each reference; null while it is being resolved.
  private var ends: [JSONValue.Place: JSONValue] = [:]
  /// Every schema that is a `$ref`. Following a reference can reveal more references; they are added at the end.
  private(set) var references: [JSONValue] = []
  private(set) var root = JSONValue.null

  init(_ schema: JSONValue, _ documents: [String: JSONValue]) throws(JSONError) {
    root = try add(schema, SchemaURI("schema:///"))
    for (uri, document) in documents.sorted(by: { $0.key < $1.key }) { _ = try add(document, SchemaURI(uri)) }
  }

  private mutating func add(_ document: JSONValue, _ uri: SchemaURI) throws(JSONError) -> JSONValue {
    let copy = try document.deepCopy()
    copies.append(copy)
    note(copy, as: uri.resource)
    try index(copy, base: uri)
    return copy
  }

  private mutating func note(_ schema: JSONValue, as uri: String) {
    if resources[uri] == nil { resources[uri] = schema }
  }

  /// Notes the base URI, `$id` and `$ref` of a schema and of every subschema that a keyword of draft-07 holds.
  private mutating func index(_ schema: JSONValue, base: SchemaURI, depth: Int = 0) throws(JSONError) {
    guard depth <= SchemaLimit.nesting else {
      throw .invalidSchema("subschemas are nested deeper than \(SchemaLimit.nesting) levels")
    }
    guard schema.isObject, bases[schema.place] == nil else { return }
    var base = base
    // If a schema has `$ref`, all its other keywords are ignored, even `$id` (draft-07 §8.3).
    if schema.reference != nil {
      references.append(schema)
    } else if let identifier = schema["$id"]?.string {
      base = SchemaURI(identifier).resolved(against: base)
      note(schema, as: base.fragmentText.isEmpty ? base.resource : base.text)
    }
    bases[schema.place] = base
    for (keyword, value) in schema.members {
      for child in Self.schemas(in: value, of: keyword) { try index(child, base: base, depth: depth + 1) }
    }
  }

  private static func schemas(in value: JSONValue, of keyword: String) -> [JSONValue] {
    switch keyword {
    case "items" where !value.isArray, "additionalItems", "additionalProperties", "contains", "else", "if", "not",
      "propertyNames", "then":
      [value]
    case "allOf", "anyOf", "items", "oneOf": Array(value.elements)
    case "definitions", "dependencies", "patternProperties", "properties": value.members.map(\.value)
    default: []
    }
  }

  /// Follows a chain of references and returns the schema at its end. If the schema has no `$ref`, returns the schema
  /// itself.
  mutating func end(of schema: JSONValue) throws(JSONError) -> JSONValue {
    var end = schema
    var passed: [JSONValue.Place] = []
    while let reference = end.reference {
      if let known = ends[end.place] {
        guard !known.isNull else {
          throw .invalidSchema("\"$ref\": \(schema["$ref"]?.excerpt ?? "") leads back to itself")
        }
        end = known
        break
      }
      ends[end.place] = .null
      passed.append(end.place)
      end = try target(of: reference, base: bases[end.place])
    }
    for place in passed { ends[place] = end }
    return end
  }

  private mutating func target(of reference: String, base: SchemaURI?) throws(JSONError) -> JSONValue {
    let uri = base.map { SchemaURI(reference).resolved(against: $0) } ?? SchemaURI(reference)
    let fragment = uri.fragmentText
    let isPointer = fragment.isEmpty || fragment.utf8.first == UInt8(ascii: "/")
    guard let found = try resource(isPointer ? uri.resource : uri.text) else {
      throw .invalidSchema("\"$ref\": \"\(reference)\" names nothing in this schema (nothing is fetched)")
    }
    guard isPointer else { return found }
    var (target, base) = (JSONValue?.some(found), bases[found.place] ?? uri)
    for token in JSONPointer(fragment)?.tokens ?? ["~"] {
      target = target?.value(at: JSONPointer(tokens: [token]))
      base = target.flatMap { bases[$0.place] } ?? base
    }
    guard let target, target.isObject || target.kind == .boolean else {
      throw .invalidSchema("\"$ref\": \"\(reference)\" does not point to a schema")
    }
    try index(target, base: base)
    return target
  }

  private mutating func resource(_ uri: String) throws(JSONError) -> JSONValue? {
    if let known = resources[uri] { return known }
    guard uri == Draft07.uri else { return nil }
    return try add(JSONValue(parsing: Draft07.text), SchemaURI(uri))
  }
}

extension JSONValue {
  /// The identity of a value. Two equal values have different identities while both exist.
  typealias Place = UnsafeRawPointer

  var place: Place { withUnsafeJSON { UnsafeRawPointer($0) } }

  /// The URI of a schema's `$ref`.
  var reference: String? { isObject ? self["$ref"]?.string : nil }
}
