import SluiceTestKit
import Testing

@testable import SluiceCommand

/// The tables of curl's options in the documentation.
@Suite(.enabled(if: CurlCommand.path != nil)) struct CurlTableTests {
  @Test func `the tables contain every option of curl`() async throws {
    let help = try await Command.run(CurlCommand.path ?? "curl", ["--help", "all"]).outputText
    let names = Set(help.matches(of: /--([a-z0-9.-]+)/.anchorsMatchLineEndings()).map { String($0.1) })
    let own = Set(CurlOptions.same.flatMap { [$0.name] + $0.aliases })
    let listed = own.union(CurlOptions.different.map(\.name)).union(CurlOptions.absent.flatMap(\.names))
    #expect(names.subtracting(listed).isEmpty)
    #expect(listed.subtracting(names) == ["timeout"])
  }

  @Test func `for each option that is the same according to the tables, a test compares curl and send`() throws {
    var compared: Set<String> = []
    for words in CurlInvocations.all + CurlInvocations.secure {
      let plain = words.split(separator: " <{").first.map(String.init) ?? words
      for option in try CurlText.parse(ShellWords.parse(plain.replacing("--no-location ", with: "").utf8)[...]).options
      {
        compared.insert(option.name)
      }
    }
    #expect(Set(CurlOptions.same.map(\.name)).subtracting(compared).isEmpty)
  }

  @Test func `no option of curl is in two tables`() {
    let names = CurlOptions.different.map(\.name) + CurlOptions.absent.flatMap(\.names)
    #expect(Set(names).count == names.count)
    #expect(Set(names).isDisjoint(with: CurlOptions.same.map(\.name)))
  }

  @Test func `the documentation has the tables`() async throws {
    let text = try FileTree.readText(RepositoryRoot.path("docs/command/curl.md"))
    let tables = try await Tool.run("help", "--curl").outputText
    #expect(text.contains(tables), "run: make texts")
  }
}
