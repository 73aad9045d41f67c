import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The shipped plugin otlp with collectors that refuse, fail, stall or are missing.
@Suite struct ExportDeliveryTests {
  private static let quick = #", "retry": {"initial": "1ms", "maximum": "1ms", "total": "1ms"}"#

  private static func run(_ count: Int, on engine: Engine, _ server: LoopbackServer) async throws -> [Int?] {
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    var statuses: [Int?] = []
    for _ in 0..<count { statuses.append(await engine.transaction(request).response?.status) }
    return statuses
  }

  @Test func `a batch that a busy collector refuses is sent again`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let count = Watched(0)
    let collector = try ExportCollector { _ in
      let number = count.update { count in
        count += 1
        return count
      }
      switch number {
      case 1: return ServerResponse(status: 503, headers: [HeaderLine("Retry-After", "0")])
      case 2: return ServerResponse(status: 429)
      default: return .text("{}", type: "application/json")
      }
    }
    defer { collector.server.stop() }
    let engine = try collector.engine(
      #", "metrics": false, "batchSpans": 3, "retry": {"initial": "1ms", "maximum": "1ms", "total": "10m"}"#)
    _ = try await Self.run(3, on: engine, server)
    try await collector.server.waitForRequests(3)
    await engine.shutdown(deactivation: Patience.limit)
    let bodies = collector.server.requests.map(\.body)
    #expect(bodies.count == 3 && Set(bodies).count == 1)
    #expect(try collector.spans().count == 9)
    #expect(ExportCollector.count("exported", engine) == 3)
    #expect(collector.lines("cannot export").isEmpty)
  }

  @Test(arguments: [400, 401, 404, 500, 302]) func `a refused batch is logged once and not sent again`(_ status: Int)
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector { _ in ServerResponse(status: status) }
    defer { collector.server.stop() }
    let engine = try collector.engine(#", "metrics": false, "batchSpans": 1"#)
    _ = try await Self.run(3, on: engine, server)
    await engine.shutdown(deactivation: Patience.limit)
    #expect(collector.server.requestCount == 3)
    #expect(
      collector.lines("cannot export traces to \(collector.server.baseURL)/v1/traces: it answered \(status)").count == 1
    )
    #expect(collector.lines("3 spans are missing").count == 1)
    #expect(ExportCollector.count("failed", engine) == 3)
  }

  @Test func `rejected spans are logged and counted`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector { _ in
      .text(#"{"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}"#, type: "application/json")
    }
    defer { collector.server.stop() }
    let engine = try collector.engine(#", "metrics": false, "delay": "1h""#)
    _ = try await Self.run(3, on: engine, server)
    await engine.shutdown(deactivation: Patience.limit)
    #expect(collector.lines("rejected 2 of 3 spans: too old").count == 1)
    #expect(ExportCollector.count("rejected", engine) == 2 && ExportCollector.count("exported", engine) == 1)
  }

  @Test func `spans that do not fit into the queue are dropped, counted and logged`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(
      #", "metrics": false, "queueSpans": 4, "batchSpans": 1, "timeout": "10m""#, delivery: "direct")
    collector.server.hold()
    _ = try await Self.run(1, on: engine, server)
    try await collector.server.waitForHeld(1)
    // One span is being sent, and four wait.
    _ = try await Self.run(10, on: engine, server)
    #expect(ExportCollector.count("dropped", engine) == 6)
    collector.server.release()
    await engine.shutdown(deactivation: Patience.limit)
    #expect(try collector.spans().count == 5)
    #expect(ExportCollector.count("exported", engine) == 5)
    #expect(collector.lines("6 spans were dropped, because 4 were waiting").count == 1)
  }

  @Test func `waiting spans are sent when the engine ends`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(#", "delay": "1h", "metricsInterval": "1h", "batchSpans": 3"#)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    await withTaskGroup { group in for _ in 0..<10 { group.addTask { _ = await engine.transaction(request) } } }
    await engine.shutdown(deactivation: Patience.limit)
    #expect(try collector.spans().count == 10)
    #expect(try collector.points("http.client.request.duration").map { $0["count"]?.string } == ["10"])
    #expect(ExportCollector.count("exported", engine) == 10)
    #expect(collector.lines("missing").isEmpty && collector.lines("dropped").isEmpty)
  }

  @Test func `counts of the engine and of plugins are exported together with durations`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(#", "metricsInterval": "10ms", "batchSpans": 1"#)
    for _ in 0..<3 { _ = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a"))) }
    // The plugin creates its counter `otlp.spans` when the collector has responded, so only a later export has it.
    var exports = 0
    while try collector.metric("otlp.spans") == nil, exports < 10_000 {
      exports = collector.server.requestCount + 1
      try await collector.server.waitForRequests(exports)
    }
    await engine.shutdown(deactivation: Patience.limit)
    let hops = try #require(try collector.metric("sluice.hops"))
    #expect(hops["sum"]?["isMonotonic"]?.bool == true)
    #expect(hops["sum"]?.items("dataPoints").map { $0["asDouble"]?.number } == [3])
    let outcomes = try collector.metric("sluice.transactions")?["sum"]?.items("dataPoints") ?? []
    #expect(outcomes.map { $0["asDouble"]?.number } == [3, 0, 0])
    #expect(outcomes.first.map(ExportCollector.attributes)?["sluice.outcome"] == ["stringValue": "succeeded"])
    #expect(try collector.metric("http.client.active_requests")?["sum"]?["isMonotonic"]?.bool == false)
    let spans = try collector.metric("otlp.spans")?["sum"]?.items("dataPoints") ?? []
    #expect(spans.contains { ExportCollector.attributes($0)["outcome"] == ["stringValue": "exported"] })
  }

  @Test func `if there is no collector, transactions continue and one line is logged`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    collector.server.stop()
    let engine = try collector.engine(#", "metrics": false, "batchSpans": 1"# + Self.quick)
    #expect(try await Self.run(5, on: engine, server) == Array(repeating: 200, count: 5))
    await engine.shutdown(deactivation: Patience.limit)
    #expect(collector.lines("cannot export traces to \(collector.server.baseURL)/v1/traces: connect").count == 1)
    #expect(collector.lines("5 spans are missing").count == 1)
  }

  @Test func `while retries go on, the log says why nothing arrives`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    collector.server.stop()
    let engine = try collector.engine(
      #", "metrics": false, "batchSpans": 1, "retry": {"initial": "10m", "maximum": "10m", "total": "2h"}"#)
    _ = try await Self.run(2, on: engine, server)
    let reason = "cannot export traces to \(collector.server.baseURL)/v1/traces: connect"
    try await collector.log.wait(for: "the reason") { lines in lines.contains { $0.contains(reason) } }
    #expect(collector.lines("retries continue for at most 7200.0 seconds").count == 1)
    await engine.shutdown(deactivation: Patience.limit)
    #expect(collector.lines("cannot export").count == 1 && collector.lines("2 spans are missing").count == 1)
  }

  @Test func `the connection to a collector that sends an endless response is closed`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector { _ in
      ServerResponse(body: .generated(BytePattern([1]), byteCount: 1 << 30, chunked: true))
    }
    defer { collector.server.stop() }
    let engine = try collector.engine(#", "metrics": false, "batchSpans": 1"#)
    #expect(try await Self.run(2, on: engine, server) == [200, 200])
    await engine.shutdown(deactivation: Patience.limit)
    #expect(collector.lines("response_too_large").count == 1)
    #expect(collector.server.requestCount == 2)
  }

  @Test func `a collector that never answers delays only its export, not the end of the engine`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    collector.server.hold()
    let engine = try collector.engine(#", "metrics": false, "batchSpans": 1, "timeout": "50ms""# + Self.quick)
    #expect(try await Self.run(2, on: engine, server) == [200, 200])
    await engine.shutdown(deactivation: Patience.limit)
    #expect(collector.lines("cannot export").count == 1 && collector.lines("timeout").count == 1)
    #expect(collector.lines("2 spans are missing").count == 1)
  }

  @Test func `the end of the engine does not wait for the collector's response`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    collector.server.hold()
    let engine = try collector.engine(#", "metrics": false, "batchSpans": 1, "timeout": "10m""#)
    _ = try await Self.run(2, on: engine, server)
    try await collector.server.waitForHeld(1)
    await engine.shutdown(deactivation: .milliseconds(200))
    #expect(collector.lines("2 spans are missing").count == 1)
    #expect(collector.lines("left behind").isEmpty)
  }

  @Test func `a batch is sent again if the collector hangs up`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let broken = try ScriptedServer([
      [.receiveRequest, .close], [.receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"), .close],
      ScriptStep.respond(body: "not JSON"),
    ])
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(
      endpoint: broken.baseURL,
      #", "metrics": false, "batchSpans": 1, "retry": {"initial": "1ms", "maximum": "1ms", "total": "10m"}"#)
    _ = try await Self.run(1, on: engine, server)
    // Wait for all three attempts here, because the end of the engine allows only one more attempt.
    try await broken.waitForConnections(3)
    await engine.shutdown(deactivation: Patience.limit)
    #expect(broken.received.count == 3)
    #expect(ExportCollector.count("exported", engine) == 1)
    #expect(collector.lines("cannot export").isEmpty)
  }

  @Test(arguments: [
    (#""endpoint": "ftp://c""#, "endpoint"), (#""tracesEndpoint": "c""#, "tracesEndpoint"),
    (#""timeout": "0s""#, "timeout"), (#""headers": {"host": "c"}"#, "headers"),
    (#""queueSpans": 1, "batchSpans": 2"#, "batchSpans"), (#""retry": {"total": "0ms"}"#, "retry.total"),
    (#""colour": "red""#, "colour"), (#""queueSpans": 0"#, "queueSpans"),
  ]) func `an invalid configuration is refused, and the error names the key`(_ config: String, _ key: String) throws {
    let text =
      #"{"plugins": {"otlp": {"library": "\#(BuiltProducts.library("otlp"))", "config": {\#(config)}}}, "tracers": ["otlp"]}"#
    let configuration = try Configuration(text: Array(text.utf8))
    let error = #expect(throws: EngineError.self) { try Engine(configuration) }
    #expect(error?.description.contains(key) == true, "\(String(describing: error))")
  }
}
