import Glibc
import Sluice
import SluicePluginHost
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// A Swift plugin with its own copy of the Swift runtime, next to a plugin that uses the runtime of the process.
@Suite struct StaticRuntimeTests: EngineFixture {
  let engine: Engine
  let log: Watched<[LogLine]>
  private let folder: TemporaryDirectory
  private let server: LoopbackServer

  init() throws {
    let folder = try TemporaryDirectory()
    self.folder = folder
    try Self.install("sleeps-statically", in: folder)
    server = try LoopbackServer()
    let text = """
      {"plugins": {"own": {"library": "own.so", "config": {"header": "x-own", "period": 3}},
                   "shared": {"library": "\(BuiltProducts.library("sleeps-in-swift"))", "config": {"header": "x-shared"}}},
       "request": ["own", "shared"], "response": ["shared", "own"], "swap": {"probation": {"duration": "0s"}},
       "transport": {"loops": 2}, "store": "store"}
      """
    let log = Watched<[LogLine]>([])
    self.log = log
    engine = try Engine(Configuration(text: Array(text.utf8), file: folder.path("sluice.json"))) { line in
      log.update { $0.append(line) }
    }
  }

  private static func install(_ product: String, in folder: TemporaryDirectory) throws {
    try StampedLibrary.install(FileTree.read(BuiltProducts.library(product)), at: folder.path("own.so"))
  }

  /// Runs requests at the same time, and checks that each request and response has passed through both plugins.
  private func run(_ count: Int = 50) async throws {
    let url = try HTTPURL(server.baseURL + "/")
    let responses = try await withThrowingTaskGroup { group in
      for _ in 0..<count { group.addTask { try await engine.perform(Request(url: url)) } }
      return try await group.reduce(into: [Response]()) { $0.append($1) }
    }
    #expect(responses.count == count)
    for name in ["x-own", "x-shared"] {
      #expect(responses.allSatisfy { $0.headers[name] == "2.5, text b" })
      #expect(server.requests.suffix(count).allSatisfy { $0.value(of: name) == "text a, number 1, true" })
    }
  }

  private func end() async {
    await engine.shutdown()
    server.stop()
  }

  @Test func `plugins with either runtime suspend, cast and do scheduled work, and a swap changes the runtime`()
    async throws
  {
    try await run()
    try await log.wait(for: "scheduled work") {
      $0.contains { $0.stage == "own" && $0.message.hasPrefix("performed=") }
    }

    try Self.install("sleeps-in-swift", in: folder)
    #expect(try await engine.swap(plugins: ["own"]).outcome == .published)
    try await run()

    try Self.install("sleeps-statically", in: folder)
    #expect(try await engine.swap(plugins: ["own"]).outcome == .published)
    try await run()
    await end()
  }

  @Test func `a swap to a build with its own runtime loses no request under load`() async throws {
    try Self.install("sleeps-in-swift", in: folder)
    async let first: Void = run(200)
    let report = try await engine.swap(plugins: ["own"])
    try await first
    #expect(report.outcome == .published)
    await end()
  }

  @Test func `a cancelled caller cancels a sleep in either runtime`() async throws {
    let request = Request(url: try HTTPURL(server.baseURL + "/"), headers: ["x-sleep": "forever"])
    let (cancellation, results) = (Cancellation(), Watched<[TransactionResult]>([]))
    engine.submit(request, cancellation: cancellation) { result in results.update { $0.append(result) } }
    cancellation.cancel()
    try await results.wait(for: "the result") { !$0.isEmpty }
    #expect(results.value.first?.error?.code == "cancelled")
    await end()
  }
}
