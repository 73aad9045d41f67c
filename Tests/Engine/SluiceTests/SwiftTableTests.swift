import Sluice
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestPipeline
import SluiceTestServers
import TablesStage
import Testing

/// The host's draft tables, used by a stage in Swift. The same source runs as a library and as a part of the program.
@Suite struct SwiftTableTests {
  enum Home: CaseIterable {
    case library, program
  }

  private struct Run {
    let results: [TransactionResult]
    let lines: [LogLine]

    func told(_ name: String) -> [String] {
      lines.map(\.message).filter { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }
  }

  private func run(
    _ paths: String..., in home: Home = .library, place: String = #""stage""#, delivery: String = "inline",
    minimumLogLevel: LogLine.Level = .debug, deadline: String = "60s", body: Body = .empty, sink: (any BodySink)? = nil
  ) async throws -> Run {
    let server = try LoopbackServer { _ in .text("answer") }
    defer { server.stop() }
    let library = """
      "plugins": {"stage": {"library": "\(BuiltProducts.library("tables-in-swift"))", "delivery": "\(delivery)"}},
      "request": [\(place)], "response": ["stage"], "tracers": ["stage"],
      """
    let text = """
      {\(home == .library ? library : "") "retry": {"maxAttempts": 2}, "deadline": "\(deadline)"}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    if home == .program { configuration.addStage("stage", StageCode(TablesStage.self)) }
    let log = Watched<[LogLine]>([])
    let engine = try Engine(configuration, minimumLogLevel: minimumLogLevel) { line in log.update { $0.append(line) } }
    var results: [TransactionResult] = []
    for path in paths {
      let url = try HTTPURL(server.baseURL + path)
      let request = Request(method: "PUT", url: url, headers: ["x-request-id": "r-1"], body: body)
      results.append(
        await withCheckedContinuation { continuation in
          engine.submit(request, sink: sink) { continuation.resume(returning: $0) }
        })
    }
    await engine.shutdown()
    return Run(results: results, lines: log.value)
  }

  @Test(arguments: Home.allCases)
  func `attributes that a stage sets remain after a suspension and in the next attempt`(_ home: Home) async throws {
    let run = try await run("/attributes", in: home)
    let result = try #require(run.results.first)
    #expect(result.error == nil && result.attempts == 2)
    let attributes = result.attributes
    #expect(attributes["http.route"] == "/items/{id}" && attributes["tries"] == 2 && attributes["read"] == 2)
    #expect(attributes["share"] == 0.25 && attributes["is-new"] == true && attributes["is-secret"] == true)
    #expect(attributes["names"] == "http.route tries share is-new user.id read is-secret names")
    #expect(attributes.first { $0.name == "user.id" }?.shownValue == "REDACTED")
    #expect(attributes["removed"] == nil)
  }

  @Test func `a tracer can only read attributes, and with queued delivery it gets none`() async throws {
    let inline = try await run("/attributes")
    #expect(inline.told("tracer") == ["8"] && inline.told("late") == ["refused"])
    #expect(inline.lines.first { $0.message == "tracer=8" }?.attributes["route"] == "/items/{id}")
    #expect(inline.results.first?.attributes["late"] == nil)
    let queued = try await run("/attributes", delivery: "queued")
    #expect(queued.told("tracer") == ["none"])
  }

  @Test(arguments: Home.allCases)
  func `an invalid attribute name fails the call, and too many attributes are refused`(_ home: Home) async throws {
    let run = try await run("/invalid", "/too-many", in: home)
    #expect(run.results[0].error?.code == "stage_failed" && run.results[0].attributes.isEmpty)
    #expect(run.results[1].error == nil && run.told("room") == ["64"])
  }

  @Test(arguments: Home.allCases)
  func `a stage's work runs on another thread, and then the stage continues on its loop`(_ home: Home) async throws {
    let attributes = try #require(try await run("/work", in: home).results.first).attributes
    #expect(attributes["work.elsewhere"] == true && attributes["work.back"] == true)
    #expect(attributes["work.error"] == "thrown" && attributes["work.sum"] == 190)
  }

  @Test(arguments: Home.allCases)
  func `shared values are set, read, exchanged and removed`(_ home: Home) async throws {
    let result = try #require(try await run("/shared", in: home).results.first)
    #expect(result.error == nil)
    let told = result.attributes.filter { $0.name.hasPrefix("shared.") }
    #expect(told.count == 12 && told.filter { $0.value != true }.map(\.name) == ["shared.no-name", "shared.large"])
    #expect(result.attributes["shared.no-name"] == "invalid" && result.attributes["shared.large"] == "invalid")
  }

  @Test func `a place has its own configuration with defaults, and still has it after a suspension`() async throws {
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

  @Test(arguments: Home.allCases)
  func `log records have attributes and can name a transaction, and records below the level are not evaluated`(
    _ home: Home
  )
    async throws
  {
    let run = try await run("/log", in: home, minimumLogLevel: .info)
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

  @Test(arguments: Home.allCases)
  func `a list of hosts matches as in the host, and the error names its invalid entry`(_ home: Home) async throws {
    let attributes = try #require(try await run("/hosts", in: home).results.first).attributes
    #expect(attributes["hosts"] == "yes yes no yes no yes no no")
    let error = attributes.first { $0.name == "hosts.error" }.map { "\($0.shownValue)" }
    #expect(error?.contains(#""others"[1]: "#) == true, "\(error ?? "")")
  }

  @Test(arguments: Home.allCases)
  func `a stage asks for the whole body in one transaction only`(_ home: Home) async throws {
    let sink = TextSink()
    let run = try await run("/no-wish", "/want-response", in: home, sink: sink)
    #expect(run.results.map(\.error?.code) == [nil, nil])
    // Only the body that no stage asked for was streamed.
    #expect(run.results[0].attributes["body"] == -1 && run.results[1].attributes["body"] == 6)
    #expect(sink.text.value == "answer")
    let pieces = Body.stream(PieceStream.make([[65], [], [66]]))
    let streamed = try await self.run("/want-request", in: home, body: pieces)
    #expect(streamed.results.first?.error == nil)
    #expect(streamed.results.first?.attributes["calls"] == "none 2 ")
  }

  @Test(arguments: Home.allCases)
  func `a stage writes its own response body in pieces, and waits for a slow reader`(_ home: Home) async throws {
    let sink = TextSink()
    let long = try await run("/stream", in: home, sink: sink)
    let result = try #require(long.results.first)
    #expect(result.error == nil, "\(String(describing: result.error))")
    #expect(result.response?.status == 203 && result.response?.headers["x-kind"] == "streamed")
    #expect(sink.text.value.utf8.elementsEqual((0..<40).flatMap { [UInt8](repeating: 65 + $0, count: 100_000) }))
    let run = try await run("/stream-announced", "/replace", in: home)
    #expect(run.results[0].error?.code == "body_file")
    #expect(run.results[1].response?.body.bytes == Array("replaced".utf8))
  }

  @Test(arguments: Home.allCases)
  func `an error that the writer of a body throws ends the transaction`(_ home: Home) async throws {
    let error = try await run("/stream-fails", in: home).results.first?.error
    #expect(error?.code == "broken" && error?.message == "the source broke" && error?.stage == "stage")
  }

  @Test func `a call that gives a negative body length fails`() async throws {
    let error = try await run("/stream-negative").results.first?.error
    #expect(error?.code == "stage_failed" && error?.message.contains("found -1") == true)
  }

  @Test(arguments: Home.allCases)
  func `a child task that waits for the body's reader can be cancelled`(_ home: Home) async throws {
    let run = try await run("/stream-child", in: home, deadline: "3s", sink: PausedSink())
    // The stage cancels the child before the deadline, at which the host would cancel the whole task.
    #expect(run.told("child") == ["true false"] && run.results.first?.error?.code == "deadline")
  }

  @Test(arguments: Home.allCases)
  func `the task that writes a body is cancelled at the deadline of its transaction`(_ home: Home) async throws {
    let sink = PausedSink()
    let run = try await run("/stream-waits", in: home, deadline: "100ms", sink: sink)
    #expect(run.results.first?.error?.code == "deadline")
    #expect(run.told("stream") == ["true true"])
  }
}

/// A sink that pauses after the first piece and never continues.
private final class PausedSink: BodySink {
  func begin(_ head: Response) {}
  func receive(_ piece: [UInt8]) -> BodyProgress { .pause }
}
