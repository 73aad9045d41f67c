import Glibc
import Sluice
import SluicePluginHost
import SluiceTestKit
import SluiceTrial
import Testing

/// Builds that would end the process of a host that loads them without a trial. An engine under load tries them in a
/// child process, and continues to serve.
struct SwapTrialTests {
  @Test(arguments: [
    ("constructor-exits", "UNUSED", "status \(Sanitizer.statusOfExitWhileLoading) while it was loaded"),
    ("constructor-crashes", "UNUSED", "SIGSEGV while it was loaded"),
    ("constructor-prints", "CRASH", "the last line"),
    ("constructor-forks", "DAEMON=1", "continued after the trial"),
    ("constructor-hangs", "UNUSED", "while it was loaded"),
    ("create-misbehaves", "DOES=exit(7)", "status 7 in create of \"a\""),
    ("create-misbehaves", "DOES=abort()", "SIGABRT in create of \"a\""),
    ("tests-itself", "RUN=SLUICE_STATUS_FAILED", "the paint is dry"),
  ])
  func `a library that would end the host ends only the trial's process, and no request fails`(
    _ behaviour: String, _ define: String, _ reason: String
  ) async throws {
    let library = try await StampedLibrary.inC()
    let product = try await PluginCompiler.compile(behaviour, defines: [define])
    let bytes = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    let trial = try #require(HelperTrial(helper: BuiltProducts.executable("sluice")))
    let fixture = try SwapFixture(trial: trial) { try library.install(1, at: $0.path("a.so")) }
    let load = try SwapLoad(fixture)
    try await load.run()
    try StampedLibrary.install(bytes, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.outcome == .refused)
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    #expect(try await fixture.stamp() == 1)
    // A good build passes the same trial and is published.
    try library.install(2, at: fixture.path())
    let report = try await fixture.engine.swap()
    #expect(report.outcome == .published)
    #expect(try await fixture.stamp() == 2)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    await fixture.shutdown()
  }

  @Test func `a build whose trial fails is examined again if its file has changed since`() async throws {
    let library = try await StampedLibrary.inC()
    let folder = try TemporaryDirectory()
    let mark = folder.path("on-trial")
    let unfinished = try await PluginCompiler.compile("constructor-waits", defines: ["MARK=\"\(mark)\""])
    let bytes = try withExtendedLifetime(unfinished) { try FileTree.read(unfinished.path) }
    let trial = try #require(HelperTrial(helper: BuiltProducts.executable("sluice")))
    let fixture = try SwapFixture(trial: trial) { try library.install(1, at: $0.path("a.so")) }
    try StampedLibrary.install(bytes, at: fixture.path())
    async let report = fixture.engine.swap()
    #expect(try await eventually { FileTree.exists(mark) })
    try library.install(2, at: fixture.path())
    unlink(mark)
    #expect(try await report.outcome == .published)
    #expect(try await fixture.stamp() == 2)
    #expect(fixture.lines("trying again for about two seconds").count == 1)
    await fixture.shutdown()
  }

  @Test func `an engine with a trial tries its first libraries, and an engine without one loads them at once`()
    async throws
  {
    let folder = try TemporaryDirectory()
    let product = try await PluginCompiler.compile("create-misbehaves", defines: ["DOES=exit(7)", "WHERE=destroy"])
    try StampedLibrary.install(try FileTree.read(product.path), at: folder.path("a.so"))
    let trial = try #require(HelperTrial(helper: BuiltProducts.executable("sluice")))
    func engine(_ limit: String, _ trial: HelperTrial?) throws -> Engine {
      let text =
        "{\"plugins\": {\"a\": {\"library\": \"a.so\"}}, \"store\": \"store\", \"swap\": {\"trial\": \"\(limit)\"}}"
      return try Engine(Configuration(text: Array(text.utf8), file: folder.path("sluice.json")), trial: trial)
    }
    let error = #expect(throws: EngineError.self) { try engine("60s", trial) }
    #expect(error.map { "\($0)" }?.contains("status 7 in destroy of \"a\"") == true, "\(String(describing: error))")
    // The engines are not ended, because this plugin ends the process in destroy.
    let untried = [try engine("0s", trial), try engine("60s", nil)]
    for engine in untried { #expect(await engine.status.serving("a")?.id == 1) }
    withExtendedLifetime(untried) {}
  }

  @Test func `if starting engines block every thread of the pool, their trials still run`() async throws {
    let library = try await StampedLibrary.inC()
    let trial = try #require(HelperTrial(helper: BuiltProducts.executable("sluice")))
    let stamps = try await withThrowingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          let fixture = try SwapFixture(trial: trial) { try library.install(1, at: $0.path("a.so")) }
          let stamp = try await fixture.stamp()
          await fixture.shutdown()
          return stamp
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(stamps == Array(repeating: 1, count: 8))
  }

  @Test
  func `if another plugin replaces a plugin that has state, the new one gets no state, in the trial and in the swap`()
    async throws
  {
    let folder = try TemporaryDirectory()
    try await StampedLibrary.inC().install(1, at: folder.path("a.so"))
    let trial = try #require(HelperTrial(helper: BuiltProducts.executable("sluice")))
    let text = #"{"plugins": {"a": {"library": "a.so"}}, "request": ["a"], "store": "store"}"#
    let engine = try Engine(
      Configuration(text: Array(text.utf8), file: folder.path("sluice.json")), trial: trial)
    // The new plugin would refuse the state of the old one, so it must start without state.
    let product = try await PluginCompiler.compile("keeps-state")
    let other = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    try StampedLibrary.install(other, at: folder.path("a.so"))
    #expect(try await engine.swap().outcome == .published)
    #expect(await engine.status.serving("a")?.pluginID == "fixture")
    await engine.shutdown()
  }
}
