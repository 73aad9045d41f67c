import SluiceJSON
import SluiceJSONSchema
import SluiceTestKit
import Testing

/// Checks every JSON example in the documentation against the published schemas.
@Suite struct DocumentExampleTests {
  /// The name of an example's schema. The key is the text that follows `json` in the example's opening fence.
  private static let schemas = [
    "request": "request", "response": "response", "result": "result", "event": "event",
    "configuration": "configuration", "headers": "configuration",
  ]
  /// The word for an example without a published schema. It only has to be valid JSON.
  private static let other = "example"

  private static let published = Result {
    var documents: [String: JSONValue] = [:]
    for name in FileTree.names(in: RepositoryRoot.path("docs/schema")) {
      let text = try FileTree.read(RepositoryRoot.path("docs/schema/\(name)"))
      documents["schema:///\(name)"] = try JSONValue(parsing: text, options: .rejectDuplicates)
    }
    return documents
  }

  private static func schema(_ kind: String) throws -> JSONSchema {
    let documents = try published.get()
    let name = try #require(schemas[kind])
    return try JSONSchema(#require(documents["schema:///\(name).schema.json"]), documents: documents)
  }

  /// Returns the documents of a code block: one document, or one on each line.
  private static func documents(_ example: DocumentExample) throws -> [JSONValue] {
    if let document = try? JSONValue(parsing: example.text, options: .rejectDuplicates) { return [document] }
    return try example.text.split(separator: "\n").map { line in
      try JSONValue(parsing: String(line), options: .rejectDuplicates)
    }
  }

  /// Wraps settings of the built-in `headers` in a whole configuration, because the schema describes them only there.
  private static func completed(_ document: JSONValue, _ kind: String) -> JSONValue {
    kind == "headers" ? ["plugins": ["headers": ["builtin": "headers", "config": document]]] : document
  }

  @Test(arguments: DocumentExample.all(in: "json"))
  func `each example is valid according to the schema that its fence names`(_ example: DocumentExample) throws {
    let kind = example.words.dropFirst().joined(separator: " ")
    let known = (Self.schemas.keys.sorted() + [Self.other]).joined(separator: ", ")
    try #require(
      kind == Self.other || Self.schemas[kind] != nil,
      "\(example): expected \"```json KIND\" with one of \(known), found \"```json \(kind)\"")
    for document in try Self.documents(example) where kind != Self.other {
      let violations = try Self.schema(kind).violations(in: Self.completed(document, kind))
      #expect(violations.isEmpty, "\(example): \(violations.map { "\($0.pointer): \($0.message)" })")
    }
  }

  @Test func `the examples in the documentation are found, including examples in shell blocks`() {
    let pages = Set(DocumentExample.all(in: "json").map(\.page))
    #expect(pages.isSuperset(of: ["README.md", "docs/configuration.md", "plugins/json-edit/README.md"]))
    let written = DocumentExample.all(in: "json").filter { $0.page == "README.md" && $0.words[1] == "configuration" }
    #expect(written.count == 1)
  }

  @Test(arguments: [
    ("http://h/", true), ("HTTPS://[::1]:1/a?b#c", true), ("/items", true), ("items/1?x=http://a", true), ("", true),
    ("?q=1", true), ("//host/path", true), ("../up", true), ("ftp://h/", false), ("mailto:a", false), ("a b", false),
    ("http:/h", false), ("é", true), ("back\\slash", false),
  ])
  func `the schema allows absolute and relative URLs of a request`(_ url: String, _ isAllowed: Bool) throws {
    #expect(try Self.schema("request").allows(["url": JSONValue(url)]) == isAllowed)
  }
}
