import SluiceJSON
import SluiceJSONSchema
import Testing

/// Schemas and values that an implementation can easily judge wrongly, or that are expensive to check.
struct SchemaHazardTests {
  @Test func `bounds compare 64-bit integers exactly, both with integers and with real numbers`() throws {
    let whole = try JSONSchema(["maximum": 9_007_199_254_740_992])
    #expect(whole.allows(9_007_199_254_740_992) && whole.allows(9_007_199_254_740_992.0))
    #expect(
      whole.violations(in: 9_007_199_254_740_993).map(\.message) == [
        "expected a number up to 9007199254740992, found 9007199254740993"
      ])
    let real = try JSONSchema(["exclusiveMinimum": 9_007_199_254_740_992.0, "maximum": 1e300])
    #expect(real.allows(9_007_199_254_740_993) && real.allows(JSONValue(Int64.max)))
    #expect(!real.allows(9_007_199_254_740_992) && !real.allows(JSONValue(Int64.min)))
    #expect(try JSONSchema(["minimum": -9.3e18]).allows(JSONValue(Int64.min)))
    #expect(try !JSONSchema(["minimum": 2.5]).allows(2))
    #expect(try JSONSchema(["maximum": -2.5]).allows(-3))
  }

  @Test func `equality and multiples of numbers depend only on their values`() throws {
    #expect(try JSONSchema(["const": ["a": [1, 2.0]]]).allows(["a": [1.0, 2]]))
    #expect(try !JSONSchema(["const": 9_007_199_254_740_993]).allows(9_007_199_254_740_992.0))
    #expect(try JSONSchema(["multipleOf": 3.0]).allows(JSONValue(Int64.max / 3 * 3)))
    #expect(try !JSONSchema(["multipleOf": 2]).allows(JSONValue(Int64.max)))
    #expect(try JSONSchema(["multipleOf": 0.01]).allows(4.35))
    #expect(try !JSONSchema(["multipleOf": 0.01]).allows(4.355))
  }

  @Test func `keys and texts are compared by code points, without Unicode normalization`() throws {
    let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    #expect(composed == decomposed)
    let schema = try JSONSchema([
      "properties": [(composed): true], "required": [JSONValue(composed)], "additionalProperties": false,
    ])
    #expect(schema.allows([composed: 1]))
    #expect(schema.violations(in: [decomposed: 1]).count == 2)
    #expect(try !JSONSchema(["enum": [JSONValue(composed)]]).allows(JSONValue(decomposed)))
    #expect(try JSONSchema(["uniqueItems": true]).allows([JSONValue(composed), JSONValue(decomposed)]))
    #expect(try !JSONSchema(["pattern": JSONValue("^\(composed)$")]).allows(JSONValue(decomposed)))
  }

  @Test func `two objects are not equal if one of them has an additional member`() throws {
    let schema = try JSONSchema(["enum": [["a": 1, "b": ["c": .null]], [], ""]])
    #expect(schema.allows(["b": ["c": .null], "a": 1.0]) && schema.allows([]))
    #expect(!schema.allows(["a": 1]) && !schema.allows(["a": 1, "b": ["c": .null], "d": 1]))
    #expect(!schema.allows([:]) && !schema.allows(false) && !schema.allows([.null]))
  }

  private static let refused: [(String, String)] = [
    (##"{"then": {"pattern": "("}}"##, "is not supported"),
    (##"{"additionalItems": {"$ref": "#/a"}}"##, "does not point to a schema"),
    (##"{"$ref": "#/enum/0", "enum": ["text"]}"##, "does not point to a schema"),
    (##"{"$ref": "#/allOf/00", "allOf": [true]}"##, "does not point to a schema"),
    (##"{"$ref": "#/~2", "~2": true}"##, "does not point to a schema"),
    (##"{"not": {"$ref": "#anchor"}}"##, "names nothing"),
    (##"{"not": {"$ref": "other.json"}, "$id": "http://localhost/a.json"}"##, "names nothing"),
    (##"{"not": {"$ref": "#/x/y"}, "x": {"y": {"$ref": "#/x/z"}, "z": {"$ref": "#/x/y"}}}"##, "back to itself"),
    (##"{"not": {"$ref": "#/x"}, "x": {"items": {"type": 5}}}"##, #"reached by $ref, at "/items/type""#),
  ]

  @Test(arguments: refused)
  func `a mistake in a schema is found at any place in it`(text: String, message: String) throws {
    let schema = try JSONValue(parsing: text)
    let error = #expect(throws: JSONError.self) { try JSONSchema(schema) }
    #expect(error?.code == .invalidSchema && error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `a reference is decoded, and resolved against the closest identifier`() throws {
    let schema = try JSONSchema(
      JSONValue(
        parsing: ##"""
          {"$id": "http://localhost/folder/root.json",
           "items": [{"$ref": "#/definitions/a%25~1b"}, {"$ref": "../other.json"}, {"$ref": "x/deep.json#/not"}],
           "definitions": {"a%/b": {"type": "null"}, "o": {"$id": "/other.json", "type": "string"},
             "d": {"$id": "x/", "not": {"$id": "./y/../deep.json", "not": {"$ref": "#/items"}, "items": {"type": "null"}}}}}
          """##))
    #expect(schema.allows([.null, "text", .null]) && !schema.allows([.null, "text", 1]))
  }

  @Test func `a value that contains itself is refused as a schema, and violates a recursive schema`()
    throws
  {
    let schema: JSONValue = ["allOf": [true]]
    schema["allOf"]?.append(schema)
    defer { schema["allOf"] = nil }
    #expect(throws: JSONError.self) { try JSONSchema(schema) }
    let recursive = try JSONSchema(["additionalProperties": ["$ref": "#"], "items": ["$ref": "#"], "uniqueItems": true])
    #expect(!recursive.allows(schema))
    #expect(recursive.violations(in: schema).first?.message.contains("nested too deeply") == true)
  }

  @Test func `the length of a simple chain of references is not limited`() throws {
    let chain = JSONValue.object()
    for link in 0..<5_000 { chain["\(link)"] = ["$ref": JSONValue("#/definitions/\(link + 1)")] }
    chain["5000"] = ["type": "string"]
    let schema = try JSONSchema(["$ref": "#/definitions/0", "definitions": chain])
    #expect(schema.allows("text") && !schema.allows(5))
  }

  @Test func `the check of an enum with many choices does not compare a value with each choice`() throws {
    let choices = JSONValue.array(of: (0..<20_000).map { JSONValue("choice \($0)") })
    let schema = try JSONSchema(["items": ["enum": choices]])
    #expect(schema.allows(choices))
    #expect(!schema.allows(["choice 20000"]))
  }

  @Test func `if a form of oneOf refers to itself endlessly, the violation names the two other forms that fit`() throws
  {
    let schema = try JSONSchema(["oneOf": [["type": "integer"], ["minimum": 0], ["$ref": "#"]]])
    #expect(schema.violations(in: 5).map(\.message) == ["fits forms 1 and 2 at once, expected exactly one"])
  }
}
