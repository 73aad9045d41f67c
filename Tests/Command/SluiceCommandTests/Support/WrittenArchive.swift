import SluiceJSON
import SluiceJSONSchema
import SluiceTestKit

/// An HTTP Archive that the command has written. The initializer checks it against the schema of the format.
struct WrittenArchive {
  let text: String
  let entries: [JSONValue]

  private static let schema = Result {
    try JSONSchema(
      JSONValue(parsing: FileTree.read(RepositoryRoot.path("Tests/Fixtures/Cases/har/har-1.2.schema.json"))))
  }

  init(_ path: String) throws {
    text = try FileTree.readText(path)
    let document = try JSONValue(parsing: text, options: .rejectDuplicates)
    try Self.schema.get().check(document)
    entries = document["log"]?["entries"].map { Array($0.elements) } ?? []
  }
}

extension JSONValue {
  /// Returns the value of the pair with this name in a list of pairs of an archive. Names are compared with case.
  func pair(_ name: String) -> String? { elements.first { $0["name"]?.string == name }?["value"]?.string }
}
