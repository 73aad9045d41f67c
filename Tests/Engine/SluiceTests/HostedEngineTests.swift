import Glibc
import Sluice
import SluiceLoop
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// An engine on a loop that a thread of the program runs. Here C code starts that thread.
@Suite struct HostedEngineTests {
  private let hosted: HostedLoop
  private let server: LoopbackServer

  init() throws {
    hosted = try HostedLoop()
    server = try LoopbackServer()
  }

  /// Starts a thread in C that runs the loop until the loop has ended.
  private func drive() throws -> ForeignThread {
    try ForeignThread(waitingFor: hosted.descriptor) { [hosted] in (try? hosted.turn()) ?? false }
  }

  @Test func `transactions run on a hosted loop, through plugins in C and Swift that suspend on timers`() async throws {
    let product = try await PluginCompiler.compile("resumes-by-timer")
    chmod(product.path, 0o755)
    let text = """
      {"plugins": {"c": {"library": "\(product.path)"},
                   "swift": {"library": "\(BuiltProducts.library("sleeps-in-swift"))", "config": {"period": 2}}},
       "request": ["c", "swift"], "response": ["swift"], "transport": {"loops": 4}}
      """
    let (elsewhere, log) = (Watched(0), Watched<[LogLine]>([]))
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.addStage(
      "where", StageCode(request: { [loop = hosted.loop] _, _ in if !loop.isCurrent { elsewhere.update { $0 += 1 } } }))
    let thread = try drive()
    let engine = try Engine(configuration, on: hosted) { line in log.update { $0.append(line) } }
    let url = try HTTPURL(server.baseURL + "/")
    let responses = try await withThrowingTaskGroup { group in
      for _ in 0..<50 { group.addTask { try await engine.perform(Request(url: url)) } }
      return try await group.reduce(into: [Response]()) { $0.append($1) }
    }
    #expect(responses.count == 50)
    #expect(responses.allSatisfy { $0.status == 200 && $0.headers["x-slept"] == "2.5, text b" })
    #expect(server.requests.count == 50)
    #expect(server.requests.allSatisfy { $0.value(of: "x-timer") == "yes" })
    #expect(server.requests.allSatisfy { $0.value(of: "x-slept") == "text a, number 1, true" })
    #expect(elsewhere.value == 0)
    // Scheduled work of a plugin runs even if there is no request.
    try await log.wait(for: "scheduled work") { $0.contains { $0.message.hasPrefix("performed=") } }
    #expect(engine.executors.count == 1)
    await engine.shutdown()
    thread.join()
    #expect(engine.unfinished == [0])
    server.stop()
  }

  @Test func `a cancellation wakes a stage that sleeps, and its transaction ends once`() async throws {
    let text = """
      {"plugins": {"swift": {"library": "\(BuiltProducts.library("sleeps-in-swift"))"}}, "request": ["swift"]}
      """
    let log = Watched<[LogLine]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8)), on: hosted) { line in log.update { $0.append(line) }
    }
    let thread = try drive()
    let cancellation = Cancellation()
    let results = Watched<[TransactionResult]>([])
    let request = Request(url: try HTTPURL(server.baseURL + "/"), headers: ["x-sleep": "forever"])
    engine.submit(request, cancellation: cancellation) { result in results.update { $0.append(result) } }
    cancellation.cancel()
    let result = try await results.wait(for: "the result") { !$0.isEmpty }.first
    #expect(result?.error?.code == "cancelled")
    await engine.shutdown()
    thread.join()
    #expect(results.value.count == 1)
    #expect(server.requestCount == 0)
    server.stop()
  }

  @Test func `an engine that fails to start ends its hosted loop`() throws {
    var configuration = Configuration()
    configuration.transport.userAgent = "a\nb"
    #expect(throws: EngineError.self) { try Engine(configuration, on: hosted) }
    #expect(try !hosted.turn())
    server.stop()
  }

  @Test func `a reloaded configuration can name any number of loops`() async throws {
    let thread = try drive()
    let engine = try Engine(Configuration(), on: hosted)
    var configuration = Configuration()
    configuration.transport.loops = 8
    #expect(try await engine.reload(configuration).outcome == .published)
    await engine.shutdown()
    thread.join()
    server.stop()
  }
}
