import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceTestKit
import SluiceTestServers
import Testing

/// A stage that blocks its loop, in a real engine.
@Suite struct WatchdogTests {
  /// An engine with one transaction, whose stage blocks the loop until the gate is opened.
  private struct Setup {
    let folder: TemporaryDirectory
    let server: LoopbackServer
    let engine: Engine
    let log = Watched<[LogLine]>([])
    let running: Task<TransactionResult, Never>

    init(limit: String) async throws {
      folder = try TemporaryDirectory()
      server = try LoopbackServer()
      let gate = folder.path("gate")
      try #require(mkfifo(gate, 0o600) == 0)
      let product = try await PluginCompiler.compile("keeps-its-loop", defines: ["GATE=\"\(gate)\""])
      let text = """
        {"plugins": {"slow": {"library": "\(product.path)"}}, "request": ["slow"], "transport": {"loops": 1},
         "watchdog": {"limit": "\(limit)"}, "store": "\(folder.path("store"))"}
        """
      let log = self.log
      // The engine copies the library while it is created, so the product's folder must exist until the engine is
      // returned.
      let engine = try withExtendedLifetime(product) {
        try Engine(Configuration(text: Array(text.utf8))) { line in log.update { $0.append(line) } }
      }
      self.engine = engine
      let url = try HTTPURL(server.baseURL + "/")
      running = Task { await engine.transaction(Request(url: url)) }
      try await log.wait(for: "the call") { $0.contains { $0.message == "kept=1" } }
    }

    /// Lets the stage return. Waits until the blocked call has opened the FIFO.
    func openGate() throws {
      let end = open(folder.path("gate"), O_WRONLY | O_CLOEXEC)
      try #require(end >= 0)
      close(end)
    }

    func line(_ text: String) async throws -> LogLine {
      try await log.wait(for: "a line with \(text)") { $0.contains { $0.message.contains(text) } }
      return try #require(log.value.first { $0.message.contains(text) })
    }
  }

  @Test func `the report of a stage that blocks its loop names its build and the transaction`() async throws {
    let setup = try await Setup(limit: "20ms")
    let line = try await setup.line("has blocked loop 0 in on_request")
    #expect(line.level == .warning && line.stage == "slow" && line.generation == 1)
    let status = await setup.engine.status
    let stall = try #require(status.stalls.first)
    #expect(status.stalls.count == 1 && status.silentLoops == [0])
    #expect(setup.engine.prometheusText().contains("\nsluice_engine_stuck_loops 1\n"))
    #expect(stall.loop == 0 && stall.plugin == "slow" && stall.generation == 1 && stall.callback == "on_request")
    #expect(stall.age >= .milliseconds(20))
    let document = status.document()["stalls"]?.elements.first { _ in true }
    #expect(document?["plugin"]?.string == "slow" && document?["callback"]?.string == "on_request")
    try setup.openGate()
    let result = await setup.running.value
    #expect(result.error == nil && stall.transaction == result.id)
    #expect(line.message.contains("transaction \(result.id)"))
    #expect(document?["transaction"]?.string == "\(result.id)")
    let end = try await setup.line("released loop 0 after")
    #expect(end.level == .info && end.stage == "slow")
    #expect(await setup.engine.status.stalls.isEmpty)
    #expect(setup.engine.prometheusText().contains("\nsluice_engine_stuck_loops 0\n"))
    #expect(setup.log.value.count { $0.message.contains("has blocked loop") } == 1)
    await setup.engine.shutdown()
  }

  @Test func `with a limit of zero, no stall is reported`() async throws {
    let setup = try await Setup(limit: "0s")
    #expect(await setup.engine.status.stalls.isEmpty)
    try setup.openGate()
    #expect(await setup.running.value.error == nil)
    await setup.engine.shutdown()
    #expect(!setup.log.value.contains { $0.message.contains("loop 0") })
  }

  @Test func `only the engine to which a loop belongs reports a stall of the loop`() async throws {
    let setup = try await Setup(limit: "1ms")
    let log = Watched<[LogLine]>([])
    let other = try Engine(Configuration(text: Array(#"{"watchdog": {"limit": "1ms"}}"#.utf8))) { line in
      log.update { $0.append(line) }
    }
    _ = try await setup.line("has blocked loop 0")
    #expect(await other.status.stalls.isEmpty)
    try setup.openGate()
    #expect(await setup.running.value.error == nil)
    await other.shutdown()
    await setup.engine.shutdown()
    #expect(log.value.allSatisfy { !$0.message.contains("loop") })
  }
}
