import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Text that plugins write to standard output is not data of the command.
@Suite struct PluginOutputTests {
  private static let forged = #"{"id": "forged", "response": {"status": 200}}"#
  private static let url = "http://127.0.0.1:1/"

  private func lines(_ count: Int) -> String {
    (0..<count).map { #"{"id": "r\#($0)", "url": "\#(Self.url)"}"# + "\n" }.joined()
  }

  @Test(arguments: [[], ["KEEPS"]])
  func `the output of run contains only results, and the output of plugins goes to standard error`(
    _ defines: [String]
  ) async throws {
    let plugin = try await PluginCompiler.compile("prints-results", defines: defines)
    let result = try await Tool.run("run", "-q", "--plugin", plugin.path, input: lines(20))
    #expect(result.status == 0, "\(result.errorText)")
    let ids = try result.documents.compactMap { $0["id"]?.string }
    #expect(ids.sorted() == (0..<20).map { "r\($0)" }.sorted())
    #expect(result.errorText.occurrences(of: Self.forged) == 20)
  }

  @Test func `-o with any of the names of standard output writes the results there`() async throws {
    let plugin = try await PluginCompiler.compile("prints-results")
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
      let result = try await Tool.run("run", "-q", "-o", name, "--plugin", plugin.path, input: lines(3))
      #expect(try result.documents.compactMap { $0["id"]?.string }.sorted() == ["r0", "r1", "r2"], "\(name)")
      #expect(result.errorText.occurrences(of: Self.forged) == 3, "\(name)")
    }
    let twice = try await Tool.run("run", "-q", "--events", "/dev/stdout", input: "")
    #expect(twice.status == 2)
    #expect(twice.errorText.contains("standard output already gets the results"))
  }

  @Test func `send prints only the response`() async throws {
    let plugin = try await PluginCompiler.compile("prints-results")
    let result = try await Tool.run("send", "--document", "--plugin", plugin.path, Self.url)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(try result.documents.map(\.status) == [204])
    #expect(result.errorText.contains(Self.forged))
  }

  @Test func `an output that was closed at the start is an error, and no file gets its descriptor`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    for closed in [">&-", ">&- 2>&-", "<&- >&-"] {
      let folder = try TemporaryDirectory()
      let file = try folder.write(lines(3), to: "in.jsonl")
      let script = "\(Tool.path) run -q -i \(file) --events \(folder.path("events")) \(closed); echo $?"
      let result = try await Command.run("sh", ["-c", script], environment: Tool.cleared)
      #expect(result.outputText == "1\n", "\(closed): \(result.errorText)")
      #expect(try !FileTree.readText(folder.path("events")).contains("\"attempts\""))
    }
    let result = try await Command.run("sh", ["-c", "\(Tool.path) version >&-"], environment: Tool.cleared)
    #expect(result.status == 1)
    #expect(result.errorText == "sluice: cannot write standard output: Bad file descriptor\n")
  }

  @Test func `an input that was closed at the start is an error`() async throws {
    let result = try await Command.run("sh", ["-c", "\(Tool.path) run -q <&-"], environment: Tool.cleared)
    #expect(result.status == 2)
    #expect(result.errorText.contains("cannot read standard input: Bad file descriptor"), "\(result.errorText)")
  }
}

extension String {
  /// Returns how often this text contains another text.
  fileprivate func occurrences(of text: String) -> Int { ranges(of: text).count }
}
