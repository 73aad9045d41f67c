import Glibc
import SluiceJSON
import SluiceJSONSchema
import SluiceTestKit
import Testing

/// The required cases of the public JSON Schema test suite, as Debian packages it.
struct SchemaSuiteTests {
  private static let suite = "/usr/share/json-schema-test-suite"
  private static let isInstalled = access("\(suite)/tests/draft7", R_OK) == 0

  @Test(.enabled(if: isInstalled, "install the package json-schema-test-suite"))
  func `every required case of draft-07 is decided as the suite says, except the listed cases`() throws {
    let exceptions = try Exceptions.load()
    let remotes = try Self.remoteDocuments()
    var failures: [String: String] = [:]
    var count = 0
    for file in FileTree.names(in: "\(Self.suite)/tests/draft7").filter({ $0.hasSuffix(".json") }) {
      let groups = try Self.parse("\(Self.suite)/tests/draft7/\(file)")
      for group in groups.elements {
        let outcome = Self.run(group, file: file, documents: remotes)
        count += outcome.count
        failures.merge(outcome.failures) { first, _ in first }
      }
    }
    #expect(count >= 423, "the suite is there but was not read in full: \(count) cases")
    for (name, reason) in failures where exceptions[name] == nil {
      Issue.record("\(name): \(reason)")
    }
    for name in exceptions.keys where failures[name] == nil {
      Issue.record("the exception \"\(name)\" no longer fails: remove it")
    }
  }

  private static func run(
    _ group: JSONValue, file: String, documents: [String: JSONValue]
  ) -> (count: Int, failures: [String: String]) {
    var failures: [String: String] = [:]
    var count = 0
    let title = "\(file): \(group["description"]?.string ?? "")"
    guard let schema = group["schema"], let tests = group["tests"] else { return (0, [title: "malformed group"]) }
    let compiled = Result { () throws(JSONError) in try JSONSchema(schema, documents: documents) }
    for test in tests.elements {
      let name = "\(title): \(test["description"]?.string ?? "")"
      count += 1
      guard let data = test["data"], let expected = test["valid"]?.bool else { continue }
      switch compiled {
      case .failure(let error): failures[name] = "does not compile: \(error)"
      case .success(let compiled):
        let violations = compiled.violations(in: data)
        if compiled.allows(data) != expected { failures[name] = "expected \(expected)" }
        if violations.isEmpty != expected { failures[name] = "expected \(expected), reported \(violations)" }
      }
    }
    return (count, failures)
  }

  /// Returns the documents that the suite expects on a web server. They are passed to the schemas directly, because a
  /// schema fetches nothing.
  private static func remoteDocuments() throws -> [String: JSONValue] {
    var documents: [String: JSONValue] = [:]
    for folder in ["", "folder/"] {
      for name in FileTree.names(in: "\(suite)/remotes/\(folder)").filter({ $0.hasSuffix(".json") }) {
        documents["http://localhost:1234/\(folder)\(name)"] = try parse("\(suite)/remotes/\(folder)\(name)")
      }
    }
    return documents
  }

  private static func parse(_ path: String) throws -> JSONValue {
    try JSONValue(parsing: FileTree.read(path), options: .allowNUL)
  }
}

/// The cases that we deliberately decide differently from the suite. Each has a reason.
private enum Exceptions {
  static func load() throws -> [String: String] {
    let text = try FileTree.read(RepositoryRoot.path("Tests/Fixtures/Cases/json-schema/exceptions.json"))
    var reasons: [String: String] = [:]
    for entry in try JSONValue(parsing: text).elements {
      let name = try #require(entry["case"]?.string)
      reasons[name] = try #require(entry["reason"]?.string)
    }
    return reasons
  }
}
