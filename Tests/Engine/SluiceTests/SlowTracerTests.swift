import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Tracers in C that are slow, in a real engine.
@Suite struct SlowTracerTests {
  private let lines = Locked<[LogLine]>([])

  private func engine(
    _ behaviour: String, _ settings: String, _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> (PluginCompiler.Product, Engine) {
    let product = try await PluginCompiler.compile(behaviour)
    // The engine refuses a plugin that others can write, so the mode must not depend on the umask.
    chmod(product.path, 0o755)
    let text = #"{"plugins": {"slow": {"library": "\#(product.path)", \#(settings)}}, "tracers": ["slow"]}"#
    var configuration = try Configuration(text: Array(text.utf8))
    change(&configuration)
    let lines = self.lines
    return (product, try Engine(configuration) { line in lines.withLock { $0.append(line) } })
  }

  private var told: Int { lines.withLock { $0.count { $0.message.hasPrefix("event=") } } }
  private var warnings: [String] { lines.withLock { $0.filter { $0.level == .warning }.map(\.message) } }

  @Test func `a tracer over its time budget is counted, switched off and named, and the ledger stays complete`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let ledger = LedgerLog()
    let (product, engine) = try await engine("traces-slowly", #""deadline": "1ms""#) {
      $0.addStage("ledger", ledger.code)
    }
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    for _ in 0..<4 { _ = try await engine.perform(request) }
    await engine.shutdown()
    withExtendedLifetime(product) {}
    #expect(told == 8)
    #expect(warnings.count == 1)
    #expect(warnings.first?.contains("\"slow\" is switched off") == true)
    #expect(engine.metrics().tracer("slow")?.overruns == 8)
    #expect(engine.metrics().tracer("slow")?.events == 8)
    #expect(ledger.entries.count == 36)
    #expect(ledger.violation == nil)
  }

  @Test func `a tracer within its time budget gets every event`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let (product, engine) = try await engine("traces-slowly", #""deadline": "20s""#)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    for _ in 0..<3 { _ = try await engine.perform(request) }
    await engine.shutdown()
    withExtendedLifetime(product) {}
    #expect(told == 27)
    #expect(warnings.isEmpty)
    #expect(engine.metrics().tracer("slow")?.overruns == 0)
  }

  @Test func `by the end of the engine, a slow tracer with queued delivery has received every event`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let ledger = LedgerLog()
    let (product, engine) = try await engine("traces-slowly", #""delivery": "queued""#) {
      $0.addStage("ledger", ledger.code)
    }
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    for _ in 0..<10 { _ = try await engine.perform(request) }
    await engine.shutdown(deactivation: .seconds(60))
    withExtendedLifetime(product) {}
    #expect(told == 90)
    #expect(warnings.isEmpty)
    #expect(engine.metrics().tracer("slow")?.events == 90)
    #expect(engine.metrics().tracer("slow")?.drops == 0)
    #expect(ledger.violation == nil)
  }

  @Test func `access-log with queued delivery writes a line for each transaction`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let text = """
      {"plugins": {"log": {"library": "\(BuiltProducts.library("access-log"))", "delivery": "queued",
                           "config": {"output": "\(folder.path("access.log"))"}}}, "tracers": ["log"],
       "transport": {"loops": 2}}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let results = ResultLog()
    for _ in 0..<200 { engine.submit(request) { results.append($0) } }
    await engine.shutdown()
    #expect(results.codes.count == 200)
    #expect(try FileTree.readText(folder.path("access.log")).split(separator: "\n").count == 200)
  }

  @Test func `queued delivery for a plugin without a tracer is refused`() async throws {
    let text = """
      {"plugins": {"edit": {"library": "\(BuiltProducts.library("json-edit"))", "delivery": "queued"}}}
      """
    let configuration = try Configuration(text: Array(text.utf8))
    let error = #expect(throws: EngineError.self) { try Engine(configuration) }
    #expect(error?.description.contains("has no tracer") == true)
  }
}
