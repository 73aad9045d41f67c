import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Each operation ends exactly once. A second end is refused, counted and logged.
struct ExactlyOnceTests {
  @Test func `a request that is resumed twice completes once, and the second resumption is counted`()
    async throws
  {
    let library = try await PluginCompiler.compile("resumes-twice")
    let server = try LoopbackServer { _ in .text("served") }
    defer { server.stop() }
    let text = """
      {"plugins": {"twice": {"library": "\(library.path)"}}, "request": ["twice"], "response": ["twice"]}
      """
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let ends = Watched<[TransactionOutcome]>([])
    for _ in 0..<20 {
      engine.submit(Request(url: try HTTPURL(server.baseURL + "/"))) { result in
        ends.update { $0.append(result.outcome) }
      }
    }
    try await ends.wait { $0.count >= 20 }
    // The stage logs what `resume` returned: OK (0) for the first call, ALREADY (2) for the second, whose verdict was
    // FAIL.
    #expect(log.value.filter { $0 == "first=0" }.count == 20)
    #expect(log.value.filter { $0 == "second=2" }.count == 20)
    let violations = try #require(await engine.status.generations.first).violations
    #expect(violations >= 20)
    #expect(log.value.contains { $0.contains("resumed a token a second time; nothing was touched") })
    await engine.shutdown()
    // No further end came before the engine shut down.
    #expect(ends.value == Array(repeating: .succeeded, count: 20))
    #expect(server.requests.count == 20)
  }

  @Test func `work that a plugin completes twice has one outcome, and the second one is counted`() async throws {
    let library = try await PluginCompiler.compile("handles-work")
    let text = #"{"plugins": {"work": {"library": "\#(library.path)", "config": {}}}}"#
    let log = Watched<[String]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line.message) } }
    let result = await engine.notify(topic: "twice")
    #expect(result.outcome == .ended(.newData))
    try await log.wait { $0.contains("second=2") }
    #expect(try #require(await engine.status.generations.first).violations == 1)
    #expect(log.value.contains { $0.contains("completed its work a second time; nothing was touched") })
    await engine.shutdown()
  }
}
