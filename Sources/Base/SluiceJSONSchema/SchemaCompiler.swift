import SluiceJSON

/// Turns a schema into rules, and finds every mistake in the schema.
struct SchemaCompiler {
  private var documents: SchemaDocuments
  /// The schema of draft-07, which every schema must satisfy; nil while the schema of draft-07 itself is compiled.
  private let draft07: SchemaRules?
  private var numbers: [JSONValue.Place: Int] = [:]
  /// The schemas by number. `level` counts the schemas and references on the path from the root to the schema.
  private var schemas: [(source: JSONValue, level: Int)] = [(true, 0), (false, 0)]
  /// The level of the schema whose rules are being made.
  private var level = 0

  static func rules(
    of schema: JSONValue, _ documents: [String: JSONValue], _ draft07: SchemaRules?
  ) throws(JSONError) -> SchemaRules {
    var compiler = SchemaCompiler(documents: try SchemaDocuments(schema, documents), draft07: draft07)
    try compiler.require(compiler.documents.root, "schema")
    let root = try compiler.number(of: compiler.documents.root)
    return SchemaRules(schemas: try compiler.allRules(), root: root)
  }

  /// Refuses a malformed schema and names the place in it, before other code relies on its shape.
  private func require(_ schema: JSONValue, _ name: String) throws(JSONError) {
    guard let draft07, let first = SchemaChecker.violations(of: draft07, in: schema).first else { return }
    throw .invalidSchema("\(name) at \"\(first.pointer)\": \(first.message)")
  }

  /// Makes the rules of all schemas. It needs no recursion: a rule names its schemas by number, and a later round of
  /// the loop makes their rules.
  private mutating func allRules() throws(JSONError) -> [[any SchemaRule]] {
    var rules: [[any SchemaRule]] = []
    var resolved = 0
    while true {
      if rules.count < schemas.count {
        rules.append(try self.rules(of: schemas[rules.count]))
      } else if resolved < documents.references.count {
        level = 0
        _ = try number(of: documents.references[resolved])
        resolved += 1
      } else {
        return rules
      }
    }
  }

  private mutating func rules(of schema: (source: JSONValue, level: Int)) throws(JSONError) -> [any SchemaRule] {
    guard schema.source.isObject else { return schema.source.bool == false ? [Forbidden()] : [] }
    level = schema.level + 1
    var rules: [any SchemaRule] = []
    for keyword in Self.keywords {
      guard let value = schema.source[keyword] else { continue }
      if let rule = try rule(keyword, value, in: schema.source) { rules.append(rule) }
    }
    // These keywords have no effect without `items` or `if`, but the compiler must find mistakes in them too.
    for value in ["additionalItems", "then", "else"].compactMap({ schema.source[$0] }) { _ = try number(of: value) }
    return rules
  }

  private mutating func number(of schema: JSONValue) throws(JSONError) -> Int {
    let end = try documents.end(of: schema)
    guard end.isObject else { return end.bool == false ? SchemaRules.forbidden : SchemaRules.allowed }
    if let known = numbers[end.place] { return known }
    if schema.reference != nil { try require(end, "schema reached by $ref,") }
    guard level <= SchemaLimit.depth else { throw .invalidSchema("subschemas refer to one another too deeply") }
    numbers[end.place] = schemas.count
    schemas.append((end, level))
    return schemas.count - 1
  }

  /// The keywords in the order in which violations are reported.
  private static let keywords = [
    "allOf", "anyOf", "const", "contains", "dependencies", "enum", "items", "if", "exclusiveMaximum", "maximum",
    "maxItems", "maxLength", "maxProperties", "exclusiveMinimum", "minimum", "minItems", "minLength", "minProperties",
    "multipleOf", "not", "oneOf", "pattern", "properties", "patternProperties", "additionalProperties",
    "propertyNames", "required", "type", "uniqueItems",
  ]

  /// The rule of a keyword; nil for a keyword that demands nothing.
  private mutating func rule(
    _ keyword: String, _ value: JSONValue, in schema: JSONValue
  ) throws(JSONError) -> (any SchemaRule)? {
    switch keyword {
    case "allOf": AllOf(schemas: try numbers(of: value))
    case "anyOf": AnyOf(schemas: try numbers(of: value))
    case "oneOf": OneOf(schemas: try numbers(of: value))
    case "not": Not(schema: try number(of: value))
    case "if":
      Conditional(
        condition: try number(of: value), then: try number(of: schema["then"] ?? true),
        otherwise: try number(of: schema["else"] ?? true))
    case "items" where value.isArray:
      Items(first: try numbers(of: value), rest: try number(of: schema["additionalItems"] ?? true))
    case "items": Items(first: [], rest: try number(of: value))
    case "contains": Contains(schema: try number(of: value))
    case "properties": Properties(schemas: try members(value))
    case "additionalProperties" where schema["patternProperties"] != nil: nil
    case "additionalProperties", "patternProperties": try otherProperties(of: schema)
    case "propertyNames": PropertyNames(schema: try number(of: value))
    case "dependencies":
      Dependencies(
        keys: value.sortedMembers.filter(\.value.isArray).map { ($0.key, $0.value.sortedTexts) },
        schemas: try members(value))
    default: try Self.simpleRule(keyword, value)
    }
  }

  /// The rule of a keyword that holds no schemas.
  private static func simpleRule(_ keyword: String, _ value: JSONValue) throws(JSONError) -> (any SchemaRule)? {
    switch keyword {
    case "const": Const(expected: value)
    case "enum": try Enum(value)
    case "type": TypeRule(names: value.isArray ? value.sortedTexts : [value.string ?? ""])
    case "multipleOf": MultipleOf(divisor: value)
    case "pattern": try SchemaPattern(value.string ?? "")
    case "required": Required(keys: value.sortedTexts)
    case "uniqueItems": value.bool == true ? UniqueItems() : nil
    default: Bound.Side(rawValue: keyword).map { Bound(side: $0, limit: value) } ?? size(keyword, value)
    }
  }

  /// `maxItems`, `minLength`…
  private static func size(_ keyword: String, _ value: JSONValue) -> (any SchemaRule)? {
    let limit = value.integer.map(Int.init) ?? value.real.flatMap(Int.init(exactly:)) ?? .max
    return Size.Unit(rawValue: String(keyword.dropFirst(3))).map {
      Size(unit: $0, isMaximum: keyword.hasPrefix("max"), limit: limit)
    }
  }

  private mutating func numbers(of list: JSONValue) throws(JSONError) -> [Int] {
    var numbers: [Int] = []
    for schema in list.elements { numbers.append(try number(of: schema)) }
    return numbers
  }

  private mutating func members(_ schemas: JSONValue?) throws(JSONError) -> [(key: String, schema: Int)] {
    var members: [(key: String, schema: Int)] = []
    for (key, value) in schemas?.sortedMembers ?? [] where !value.isArray {
      members.append((key, try number(of: value)))
    }
    return members
  }

  private mutating func otherProperties(of schema: JSONValue) throws(JSONError) -> OtherProperties {
    var patterns: [(pattern: SchemaPattern, schema: Int)] = []
    for (key, schema) in try members(schema["patternProperties"]) {
      patterns.append((try SchemaPattern(key), schema))
    }
    let additional = try number(of: schema["additionalProperties"] ?? true)
    return OtherProperties(patterns: patterns, named: schema["properties"] ?? .object(), additional: additional)
  }
}

extension JSONValue {
  /// Sorted by the bytes of the keys.
  var sortedMembers: [(key: String, value: JSONValue)] {
    members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// The strings of an array, sorted by their bytes.
  var sortedTexts: [String] { elements.compactMap(\.string).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
