import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Runs the command with damaged libraries. Each works or is refused with a message, and a signal never ends the
/// command. There are 8 of each kind, or 50 with SLUICE_SOAK.
@Suite struct MutatedLibraryTests {
  @Test(arguments: MutatedPlugins.Kind.allCases)
  func `a damaged library works or is refused with a message, in check and in run`(
    _ kind: MutatedPlugins.Kind
  ) async throws {
    let server = try LoopbackServer(recording: .countOnly) { _ in ServerResponse(body: .bytes(Array("ok".utf8))) }
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let plugins = try await MutatedPlugins(kind, seed: 12)
    let list = kind == .swift ? "response" : "request"
    let file = try folder.write(
      "{\"store\": \"store\", \"plugins\": {\"x\": {\"library\": \"libx.so\"}}, \"\(list)\": [\"x\"]}", to: "c.json")
    let request = "{\"url\": \"\(server.baseURL)/\"}\n"
    try StampedLibrary.install(plugins.whole, at: folder.path("libx.so"))
    #expect(try await Tool.run("run", "-q", "-c", file, input: request).status == 0)
    var refused = 0
    for mutant in plugins.mutants {
      try StampedLibrary.install(mutant.bytes, at: folder.path("libx.so"))
      let check = try await Tool.run("check", "-c", file)
      try judge(check, [0, 3], mutant.what)
      // The trial has ended before the first request. If a library has passed the trial, its request is answered or
      // fails.
      let run = try await Tool.run("run", "-q", "-c", file, input: request)
      try judge(run, [0, 1, 3], mutant.what)
      #expect((check.status == 3) == (run.status == 3), "\(kind) \(mutant.what): \(check.errorText) \(run.errorText)")
      if run.status != 3 { #expect(try run.documents.count == 1) } else { refused += 1 }
    }
    #expect(refused > 0)
  }

  private func judge(_ result: CommandResult, _ statuses: [Int32], _ what: String) throws {
    guard case .exited(let status) = result.ending, statuses.contains(status) else {
      throw TestKitError("\(what): \(result.ending), \(result.errorText)")
    }
    if status == 3 {
      #expect(result.errorText.contains("plugin \"x\" at ") || result.errorText.contains("c.json"), "\(what)")
    }
  }
}
