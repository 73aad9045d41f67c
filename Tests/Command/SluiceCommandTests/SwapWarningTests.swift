import Glibc
import SluiceJSON
import SluiceTestKit
import Testing

/// A library with unique symbols keeps the variables of its first build after a swap. `check`, the log of the start and
/// the report of the swap say so, as `plugin inspect` does.
@Suite struct SwapWarningTests {
  private static let words = "keeps the variables of the first generation after a swap"

  private func configuration(_ folder: TemporaryDirectory) throws -> String {
    try folder.write(#"{"plugins": {"a": {"library": "a.so"}}, "store": "store"}"#, to: "c.json")
  }

  private func install(_ build: Int, _ folder: TemporaryDirectory) async throws {
    // The name of the library differs, so its content does too.
    let plugin = try await PluginCompiler.compile("unique-symbol", flags: ["-Wl,-soname,build-\(build)"])
    let new = try folder.write(try FileTree.read(plugin.path), to: "new.so")
    try #require(rename(new, folder.path("a.so")) == 0)
  }

  @Test func `check names the library, the symbol and the cure, and passes`() async throws {
    let folder = try TemporaryDirectory()
    try await install(1, folder)
    let file = try configuration(folder)
    let text = try await Tool.run("check", "-c", file)
    #expect(text.status == 0, "\(text.errorText)")
    #expect(
      text.errorText.contains("plugin \"a\" at \(folder.path("a.so")): 1 unique symbol (fixture_unique) \(Self.words)"))
    #expect(text.errorText.contains("-fno-gnu-unique"), "\(text.errorText)")
    let json = try await Tool.run("check", "-c", file, "--json")
    #expect(try json.documents.first?["ok"]?.bool == true)
    #expect(try json.documents.first?["warnings"]?[0]?.string?.contains(Self.words) == true, "\(json.outputText)")
  }

  @Test func `the log of the start, the log of a swap and its report warn`() async throws {
    let folder = try TemporaryDirectory()
    try await install(1, folder)
    let socket = folder.path("c.sock")
    let running = try Tool.start("run", "-q", "-c", try configuration(folder), "--control", socket)
    try await running.waitForError(containing: Self.words)
    try await install(2, folder)
    var swap = try await Tool.run("ctl", "swap", "--socket", socket, "--json")
    // The socket can come a moment after the first line of the log.
    let end = ContinuousClock.now + Patience.limit
    while swap.status != 0, ContinuousClock.now < end {
      swap = try await Tool.run("ctl", "swap", "--socket", socket, "--json")
    }
    let report = try #require(try swap.documents.first, "\(swap.errorText)")
    #expect(report["outcome"]?.string == "published", "\(report)")
    #expect(report["changes"]?[0]?["warnings"]?[0]?.string?.contains(Self.words) == true, "\(report)")
    try await install(3, folder)
    let text = try await Tool.run("ctl", "swap", "--socket", socket)
    #expect(text.outputText.contains("; warning: 1 unique symbol (fixture_unique) \(Self.words)"), "\(text.outputText)")
    running.closeInput()
    let result = try await running.wait(upTo: Patience.limit)
    #expect(result.errorText.ranges(of: Self.words).count == 3, "\(result.errorText)")
  }
}
