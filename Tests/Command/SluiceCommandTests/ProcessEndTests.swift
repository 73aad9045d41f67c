import SluiceJSON
import SluiceTestKit
import Testing

/// How the command ends when a plugin interferes with the end of the process.
@Suite struct ProcessEndTests {
  private static let url = "http://127.0.0.1:1"

  private func run(_ plugin: PluginCompiler.Product, _ paths: [String]) async throws -> CommandResult {
    let lines = paths.enumerated().map { #"{"id": \#($0), "url": "\#(Self.url)\#($1)"}"# + "\n" }
    let running = try Tool.start("run", "-q", "--concurrency", "1", "--plugin", plugin.path)
    running.writeAndClose(Array(lines.joined().utf8))
    return try await running.wait(upTo: Patience.limit)
  }

  @Test(arguments: [
    ([], "called exit(0) in on_request"), (["DOES=exit(7)"], "called exit(7) in on_request"),
    (["DOES=quick_exit(0)"], "called quick_exit in on_request"),
  ])
  func `if a stage calls exit, the run fails, names the stage and keeps the results so far`(
    _ defines: [String], _ words: String
  ) async throws {
    let plugin = try await PluginCompiler.compile("calls-exit", defines: defines)
    let result = try await run(plugin, ["/", "/", "/end", "/"])
    #expect(result.ending == .exited(70), "\(result.errorText)")
    #expect(result.errorText.contains("sluice: error: stage \"calls-exit\" (plugin fixture, generation 1) \(words)"))
    #expect(try result.documents.compactMap { $0["id"]?.integer } == [0, 1])
  }

  @Test func `if stages call exit on several threads at the same time, the run fails`() async throws {
    let plugin = try await PluginCompiler.compile("calls-exit", defines: ["FLAGS=SLUICE_FLAG_BLOCKING"])
    let line = #"{"url": "\#(Self.url)/end"}"# + "\n"
    for _ in 0..<5 {
      let result = try await Tool.run("run", "-q", "--plugin", plugin.path, input: String(repeating: line, count: 16))
      #expect(result.ending == .exited(70), "\(result.errorText)")
    }
  }

  @Test func `a call of exit on a plugin's own thread fails the run`() async throws {
    let plugin = try await PluginCompiler.compile("calls-exit", defines: ["ON_THREAD"], flags: ["-pthread"])
    let result = try await run(plugin, ["/", "/end"])
    #expect(result.ending == .exited(70))
    #expect(result.errorText.contains("called exit(0) on a thread of its own"), "\(result.errorText)")
    #expect(try result.documents.count == 1)
  }

  @Test func `atexit functions of a plugin do not run before the reason is printed`() async throws {
    let plugin = try await PluginCompiler.compile("calls-exit", defines: ["WITH_HANDLER"])
    let result = try await run(plugin, ["/", "/end"])
    #expect(result.ending == .exited(70), "\(result.errorText)")
    #expect(result.errorText.contains("called exit(0) in on_request"))
    #expect(try result.documents.count == 1)
  }

  @Test func `a forked child of a plugin can call exit without an effect on the run`() async throws {
    let plugin = try await PluginCompiler.compile(
      "calls-exit", defines: ["DOES=if (fork() == 0) exit(0)"])
    let result = try await run(plugin, ["/", "/end", "/"])
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.errorText.isEmpty)
    #expect(try result.documents.count == 3)
  }

  @Test func `if a stage calls exit, send fails`() async throws {
    let plugin = try await PluginCompiler.compile("calls-exit")
    let result = try await Tool.run("send", "--document", "--plugin", plugin.path, "\(Self.url)/end")
    #expect(result.ending == .exited(70))
    #expect(result.outputText.isEmpty)
    #expect(result.errorText.contains("called exit(0) in on_request"), "\(result.errorText)")
  }

  @Test(arguments: [[], ["ATEXIT"], ["DOES=hang()"], ["ATEXIT", "DOES=hang()"], ["ATEXIT", "DOES=exit(9)"]])
  func `destructors and atexit functions of a library do not run`(_ defines: [String]) async throws {
    let plugin = try await PluginCompiler.compile("ends-badly", defines: defines)
    let result = try await run(plugin, ["/", "/"])
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(try result.documents.count == 2)
    let sent = try await Tool.run("send", "--document", "--plugin", plugin.path, "\(Self.url)/")
    #expect(sent.ending == .exited(0), "\(sent.errorText)")
  }

  @Test func `text in a plugin's stdio buffer is written at the end, but a blocked stream does not stop the end`()
    async throws
  {
    let plugin = try await PluginCompiler.compile("leaves-text")
    let result = try await run(plugin, ["/"])
    #expect(result.ending == .exited(0), "\(result.errorText)")
    #expect(result.errorText.contains("left in a buffer"))
    for define in ["BLOCKS", "CRASHES"] {
      let bad = try await PluginCompiler.compile("leaves-text", defines: [define])
      if define == "CRASHES", Sanitizer.isOn { continue }
      let result = try await run(bad, ["/"])
      #expect(result.ending == .exited(0), "\(define): \(result.errorText)")
      #expect(try result.documents.count == 1)
    }
  }
}
