import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Synchronization
import Testing

@testable import SluiceAssembly
@testable import Sluice

/// The shutdown of an engine whose loops still have work.
@Suite struct EngineEndTests {
  private static func engine(loops: Int) throws -> Engine {
    try Engine(Configuration(text: Array(#"{"transport": {"loops": \#(loops)}}"#.utf8)))
  }

  @Test func `a request that a task on a loop submits after the shutdown is refused`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let engine = try Self.engine(loops: 1)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let first = Task { await engine.transaction(request) }
    try await server.waitForHeld(1)
    let end = Task { await engine.shutdown() }
    while !engine.isClosed.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    let late = await Task(executorPreference: engine.executors.first) { await engine.transaction(request) }.value
    #expect(late.error?.code == "shutdown")
    server.release()
    #expect(await first.value.outcome == .succeeded)
    await end.value
  }

  @Test func `instances that do not end are named in the log, and do not delay other instances`() async throws {
    let folder = try TemporaryDirectory()
    let stops = try await PluginCompiler.compile(
      "stops", defines: ["AT=DEACTIVATE", "PLACE=\"\(folder.path)\"", "BUILD=\"1\""])
    let healthy = try await StampedLibrary.inC()
    try healthy.install(1, at: folder.path("healthy.so"))
    try StampedLibrary.install(FileTree.read(stops.path), at: folder.path("stops.so"))
    let names = (0..<3).map { "s\($0)" }
    let plugins = names.map { #""\#($0)": {"library": "stops.so"}"# }.joined(separator: ", ")
    let text = #"{"plugins": {"h": {"library": "healthy.so"}, \#(plugins)}, "store": "store"}"#
    let log = Watched<[LogLine]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8), file: folder.path("c.json"))) { line in
      log.update { $0.append(line) }
    }
    _ = try folder.write("", to: "armed")
    await engine.shutdown(drain: .zero, deactivation: .milliseconds(50))
    let late = log.value.filter { $0.message.contains("has not returned from deactivate or destroy in time") }
    #expect(late.compactMap(\.stage) == names.reversed())
    #expect(log.value.contains { $0.message == "destroyed=1" })
  }

  @Test func `instances that end at once do not wait for their time limit`() async throws {
    let folder = try TemporaryDirectory()
    try await StampedLibrary.inC().install(1, at: folder.path("a.so"))
    let text = #"{"plugins": {"a": {"library": "a.so"}}, "store": "store"}"#
    // The instance can end before or after the engine first checks it, so the test runs several times.
    for _ in 0..<20 {
      let engine = try Engine(Configuration(text: Array(text.utf8), file: folder.path("c.json")))
      let time = await ContinuousClock().measure { await engine.shutdown(drain: .zero, deactivation: .seconds(30)) }
      try #require(time < .seconds(20))
    }
  }

  @Test func `loops drain at the same time: a blocked loop does not delay another`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let engine = try Self.engine(loops: 2)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let code = Watched<String?>(nil)
    let executor = try #require(engine.executors.last)
    Task(executorPreference: executor) {
      let result = await engine.transaction(request)
      code.update { $0 = result.error?.code.rawValue ?? "none" }
    }
    try await server.waitForHeld(1)
    let held = try await HeldLoop(engine)
    defer { held.letGo() }
    let end = Task { await engine.shutdown(drain: .milliseconds(20)) }
    try await code.wait(for: "the end of the transaction on the other loop") { $0 != nil }
    #expect(code.value == "shutdown")
    held.letGo()
    await end.value
    server.release()
  }

  @Test func `a shutdown closes connections, even if engine and transaction are still referenced`() async throws {
    let server = try ScriptedServer([ScriptStep.respond() + [.receiveToEnd]])
    defer { server.stop() }
    let engine = try Self.engine(loops: 1)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let cancellation = Cancellation()
    let result = await withCheckedContinuation { continuation in
      engine.submit(request, cancellation: cancellation) { continuation.resume(returning: $0) }
    }
    #expect(result.outcome == .succeeded)
    await engine.shutdown()
    // The script on the server ends when the client closes the connection.
    try await server.waitForScripts()
    withExtendedLifetime((engine, cancellation)) {}
  }
}
