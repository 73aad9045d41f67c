import Sluice
import SluiceMessages
import SluiceTestKit
import Testing

/// The host's draft tables, used by a plugin in Swift.
@Suite struct SwiftTableTests {
  private struct Run {
    let results: [TransactionResult]
    let lines: [LogLine]

    func told(_ name: String) -> [String] {
      lines.map(\.message).filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
  }

  private func run(
    _ paths: String..., place: String = #""stage""#, delivery: String = "inline",
    minimumLogLevel: LogLine.Level = .debug
  ) async throws -> Run {
    let server = try LoopbackServer()
    defer { server.stop() }
    let text = """
      {"plugins": {"stage": {"library": "\(BuiltProducts.library("tables-in-swift"))", "delivery": "\(delivery)"}},
       "request": [\(place)], "response": ["stage"], "tracers": ["stage"], "retry": {"maxAttempts": 2}}
      """
    let log = Watched<[LogLine]>([])
    let engine = try Engine(Configuration(text: Array(text.utf8)), minimumLogLevel: minimumLogLevel) { line in
      log.update { $0.append(line) }
    }
    var results: [TransactionResult] = []
    for path in paths {
      let url = try HTTPURL(server.baseURL + path)
      results.append(await engine.transaction(Request(url: url, headers: ["x-request-id": "r-1"])))
    }
    await engine.shutdown()
    return Run(results: results, lines: log.value)
  }

  @Test func `attributes that a stage sets survive its suspension and its attempts`() async throws {
    let run = try await run("/attributes")
    let result = try #require(run.results.first)
    #expect(result.error == nil && result.attempts == 2)
    let attributes = result.attributes
    #expect(attributes["http.route"] == "/items/{id}" && attributes["tries"] == 2 && attributes["read"] == 2)
    #expect(attributes["share"] == 0.25 && attributes["is-new"] == true && attributes["is-secret"] == true)
    #expect(attributes["names"] == "http.route tries share is-new user.id read is-secret names")
    #expect(attributes.first { $0.name == "user.id" }?.shownValue == "REDACTED")
    #expect(attributes["removed"] == nil)
  }

  @Test func `a tracer can only read attributes, and has none with queued delivery`() async throws {
    let inline = try await run("/attributes")
    #expect(inline.told("tracer") == ["8"] && inline.told("late") == ["refused"])
    #expect(inline.lines.first { $0.message == "tracer=8" }?.attributes["route"] == "/items/{id}")
    #expect(inline.results.first?.attributes["late"] == nil)
    let queued = try await run("/attributes", delivery: "queued")
    #expect(queued.told("tracer") == ["none"])
  }

  @Test func `a name that is not allowed fails the call, and too many are refused`() async throws {
    let run = try await run("/invalid", "/too-many")
    #expect(run.results[0].error?.code == "stage_failed" && run.results[0].attributes.isEmpty)
    #expect(run.results[1].error == nil && run.told("room") == ["64"])
  }

  @Test func `work runs on another thread, and the stage continues on its loop`() async throws {
    let attributes = try #require(try await run("/work").results.first).attributes
    #expect(attributes["work.elsewhere"] == true && attributes["work.back"] == true)
    #expect(attributes["work.error"] == "thrown" && attributes["work.sum"] == 190)
  }

  @Test func `shared values are set, read, exchanged and removed`() async throws {
    let result = try #require(try await run("/shared").results.first)
    #expect(result.error == nil)
    let told = result.attributes.filter { $0.name.hasPrefix("shared.") }
    #expect(told.count == 12 && told.filter { $0.value != true }.map(\.name) == ["shared.no-name", "shared.large"])
    #expect(result.attributes["shared.no-name"] == "invalid" && result.attributes["shared.large"] == "invalid")
  }

  @Test func `a place has a configuration of its own, with defaults, also after a suspension`() async throws {
    let run = try await run("/", place: #"{"plugin": "stage", "config": {"name": "a"}}"#)
    #expect(run.results.first?.attributes["place"] == "a 1 a")
    #expect(try await self.run("/").results.first?.attributes["place"] == nil)
  }

  @Test(arguments: [
    (#"{"nome": "a"}"#, "nome"), (#"{"name": 1}"#, "name"),
    (#"{"name": "a", "count": 0}"#, "expected a number above 0"),
  ])
  func `an invalid configuration of a place is refused`(_ config: String, _ words: String) async throws {
    let error = await #expect(throws: EngineError.self) {
      _ = try await run("/", place: #"{"plugin": "stage", "config": \#(config)}"#)
    }
    let message = "\(try #require(error))"
    #expect(message.contains("request[0].config") && message.contains(words), "\(message)")
  }

  @Test func `log records have attributes and their transaction, and a level that is not logged is not evaluated`()
    async throws
  {
    let run = try await run("/log", minimumLogLevel: .info)
    #expect(run.told("evaluated") == ["3"] && run.told("logged") == ["false true"])
    #expect(!run.lines.contains { $0.message == "debug" || $0.message == "invalid" })
    let plain = try #require(run.lines.first { $0.message == "with attributes" })
    #expect(
      plain.attributes
        == AttributeList([
          Attribute("text", "a\\nb"), Attribute("integer", -1), Attribute("number", 1.5), Attribute("bool", false),
        ]))
    #expect(plain.transaction == nil && plain.requestID == nil && plain.attempt == nil)
    let about = try #require(run.lines.first { $0.message == "about" })
    #expect(about.transaction == run.results.first?.id && about.requestID == "r-1" && about.attempt == 0)
    #expect(about.attributes.map(\.name) == ["http.status", "http.route"])
  }
}
