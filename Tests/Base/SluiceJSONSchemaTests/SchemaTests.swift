import SluiceJSON
import SluiceJSONSchema
import Testing

struct SchemaTests {
  private func violations(_ schema: JSONValue, _ value: JSONValue) throws -> [String] {
    try JSONSchema(schema).violations(in: value).map { "\($0.pointer): \($0.message)" }
  }

  @Test func `a wrong type is reported with its place and with the expected and the found type`() throws {
    let schema: JSONValue = ["properties": ["retry": ["properties": ["maxAttempts": ["type": "integer"]]]]]
    let found = try violations(schema, ["retry": ["maxAttempts": "3"]])
    #expect(found == ["/retry/maxAttempts: expected an integer, found a string"])
  }

  @Test func `an unknown key is reported together with the known keys`() throws {
    let schema: JSONValue = ["properties": ["url": true, "method": true], "additionalProperties": false]
    #expect(try violations(schema, ["urll": 1]) == ["/urll: unknown key \"urll\"; known here: method, url"])
  }

  @Test func `a missing key, a wrong choice and a number out of range are reported together`() throws {
    let schema: JSONValue = [
      "required": ["name"], "properties": ["mode": ["enum": ["fail", "skip"]], "count": ["maximum": 5]],
    ]
    let found = try violations(schema, ["mode": "ignore", "count": 6])
    #expect(
      Set(found) == [
        ": missing key \"name\"", "/mode: expected one of \"fail\", \"skip\"; found \"ignore\"",
        "/count: expected a number up to 5, found 6",
      ])
  }

  @Test func `if several forms are allowed, the violation of the form that matched furthest is reported`() throws {
    let schema: JSONValue = [
      "anyOf": [["type": "string"], ["type": "object", "properties": ["plugin": ["type": "string"]]]]
    ]
    #expect(try violations(schema, ["plugin": 5]) == ["/plugin: expected a string, found an integer"])
    #expect(
      try violations(schema, 5) == [
        ": expected a string, found an integer; or expected an object, found an integer"
      ])
  }

  @Test func `a text that fails a pattern is not repeated, because it might be a secret`() throws {
    let found = try violations(["pattern": "^tok_"], "hunter2")
    #expect(found == [": expected a text that matches /^tok_/"])
  }

  @Test func `at most eight violations are reported`() throws {
    let value = JSONValue(arrayLiteral: "", "", "", "", "", "", "", "", "", "", "")
    #expect(try violations(["items": ["type": "integer"]], value).count == 8)
  }

  @Test func `the check throws an error that has the pointer of the first violation`() throws {
    let schema = try JSONSchema(["items": ["type": "integer"]])
    #expect {
      try schema.check([1, "two"])
    } throws: { error in
      guard let error = error as? JSONError else { return false }
      return error.code == .schemaViolation && error.pointer == JSONPointer("/1")
        && error.message == "/1: expected an integer, found a string"
    }
    try schema.check([1, 2.0])
  }

  private static let unusable: [(String, String)] = [
    (##"{"type": "strnig"}"##, ##"schema at "/type""##),
    (##"{"properties": {"a": {"minLength": -1}}}"##, ##"at "/properties/a/minLength": expected a number from 0"##),
    (##"{"multipleOf": 0}"##, "above 0"),
    (##"{"$ref": "#/nowhere"}"##, "does not point to a schema"),
    (##"{"$ref": "#/deep", "deep": {"multipleOf": 0}}"##, "reached by $ref"),
    (##"{"$ref": "http://127.0.0.1:9/x.json"}"##, "nothing is fetched"),
    (##"{"$ref": "#"}"##, "leads back to itself"),
    (##"{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}}"##, "back to itself"),
    (##"{"pattern": "("}"##, ##"pattern "(" is not supported"##),
    (##"{"pattern": "(a)\\1"}"##, "is not supported"),
    (##"{"pattern": "(a{1000}){1000}"}"##, "is not supported"),
    ("5", "expected true or false or an object"),
  ]

  @Test(arguments: unusable)
  func `an unusable schema is refused, and the error names the keyword`(text: String, message: String) throws {
    let schema = try JSONValue(parsing: text)
    #expect {
      _ = try JSONSchema(schema)
    } throws: { error in
      guard let error = error as? JSONError else { return false }
      #expect(error.message.contains(message), "\(error.message)")
      return error.code == .invalidSchema
    }
  }

  @Test func `a pattern is matched by characters, not bytes`() throws {
    let schema = try JSONSchema(["pattern": "^[äö].$", "maxLength": 2])
    #expect(schema.allows("ä😀"))
    #expect(!schema.allows("äöü"))
  }

  @Test func `a pattern that would take others years of backtracking is matched quickly`() throws {
    let schema = try JSONSchema(["pattern": "^(a+)+$"])
    #expect(!schema.allows(JSONValue(String(repeating: "a", count: 5000) + "b")))
  }

  @Test func `a text beyond the limit for patterns is refused, and the message names the limit`() throws {
    let schema = try JSONSchema(["pattern": "a"])
    let violations = schema.violations(in: JSONValue(String(repeating: "a", count: 300_000)))
    #expect(violations.first?.message.contains("262144") == true)
  }

  @Test func `the check of a schema that applies itself endlessly stops with a violation`() throws {
    let schema = try JSONSchema(["anyOf": [["$ref": "#"], ["$ref": "#"]]])
    #expect(!schema.allows(1))
    #expect(schema.violations(in: 1).first?.message.contains("nested too deeply") == true)
  }

  @Test func `a value nested deeper than the limit is refused`() throws {
    let schema = try JSONSchema(["items": ["$ref": "#"]])
    let shallow = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
    let deep = String(repeating: "[", count: 1500) + String(repeating: "]", count: 1500)
    #expect(schema.allows(try JSONValue(parsing: shallow)))
    #expect(!schema.allows(try JSONValue(parsing: deep)))
  }

  @Test func `a schema that is nested deeper than the limit, directly or through references, is refused`() throws {
    let nested = String(repeating: #"{"not":"#, count: 400) + "{}" + String(repeating: "}", count: 400)
    #expect(throws: JSONError.self) { try JSONSchema(JSONValue(parsing: nested)) }
    let chain = JSONValue.object()
    for link in 0..<20_000 { chain["\(link)"] = ["not": ["$ref": JSONValue("#/definitions/\(link + 1)")]] }
    chain["20000"] = true
    #expect(throws: JSONError.self) { try JSONSchema(["$ref": "#/definitions/0", "definitions": chain]) }
  }

  @Test func `two equal items of a large array are found without comparing all pairs`() throws {
    let schema = try JSONSchema(["uniqueItems": true])
    let items = JSONValue.array()
    for number in 0..<50_000 { items.append(JSONValue(Int64(number))) }
    #expect(schema.allows(items))
    items.append(7.0)
    #expect(schema.violations(in: items).first?.message == "items 7 and 50000 are equal")
  }

  @Test func `propertyNames in a referenced schema are checked with their own schema`() throws {
    let schema = try JSONSchema(
      [
        "$ref": "#/definitions/map",
        "definitions": ["map": ["type": "object", "propertyNames": ["pattern": "^[a-z]+$"]]],
      ])
    #expect(schema.allows(["abc": 1]))
    #expect(schema.violations(in: ["ABC": 1]).map(\.pointer.description) == ["/ABC"])
    #expect(!(try JSONSchema(["propertyNames": false])).allows(["a": 1]))
  }

  @Test func `a schema can refer to the schema of draft-07 itself`() throws {
    let schema = try JSONSchema(["$ref": "http://json-schema.org/draft-07/schema#"])
    #expect(schema.allows(["type": "object"]))
    #expect(!schema.allows(["type": "thing"]))
  }

  @Test func `a later change of the value that a schema was made from does not change the schema`() throws {
    let source: JSONValue = ["enum": ["a", ["deep": [1]]]]
    let schema = try JSONSchema(source)
    source["enum"] = ["b"]
    #expect(schema.allows(["deep": [1.0]]))
    #expect(!schema.allows("b"))
  }

  @Test func `many tasks can use one schema at the same time`() async throws {
    let schema = try JSONSchema(["items": ["pattern": "^[a-z]+$"]])
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask { (0..<200).allSatisfy { _ in schema.allows(["abc", "def"]) && !schema.allows(["ABC"]) } }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
