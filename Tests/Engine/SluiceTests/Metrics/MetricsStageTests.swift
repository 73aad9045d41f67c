import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestServers
import Testing

/// The built-in `metrics` in an engine, against real sockets.
@Suite struct MetricsStageTests {
  private static func configuration(_ config: String = "{}", list: String = "tracers") throws -> Configuration {
    let text = """
      {"transport": {"loops": 2},
       "plugins": {
         "count": {"builtin": "metrics", "config": \(config)}},
       "\(list)": ["count"]}
      """
    return try Configuration(text: Array(text.utf8), file: "sluice.json")
  }

  @Test func `under load on two loops every transaction is counted exactly once`() async throws {
    let server = try LoopbackServer(recording: .countOnly) { request in
      ServerResponse(status: request.target.contains("missing") ? 404 : 200)
    }
    defer { server.stop() }
    let engine = try Engine(Self.configuration())
    let urls = [try HTTPURL(server.baseURL + "/found"), try HTTPURL(server.baseURL + "/missing")]
    let nowhere = HTTPURL("http://127.0.0.1:1/")
    await withTaskGroup { group in
      for index in 0..<600 {
        group.addTask {
          let url = index % 6 == 5 ? nowhere : urls[index % 2]
          _ = await engine.transaction(Request(method: index % 3 == 0 ? "POST" : "GET", url: url))
        }
      }
    }
    let report = try #require(engine.metricsReports["count"])
    await engine.shutdown()
    #expect(report.traffic.begun == 600)
    #expect(report.traffic.inFlight == 0)
    // Each group of 6 requests has these kinds: 0 POST found, 1 GET missing, 2 GET found, 3 POST missing, 4 GET found,
    // 5 GET nowhere.
    #expect(report[.post, .success].count == 100)
    #expect(report[.get, .success].count == 200)
    #expect(report[.get, .clientError].count == 100)
    #expect(report[.post, .clientError].count == 100)
    #expect(report[.get, .none].count == 100)
    #expect(report.series.count == 5)
    #expect(report.traffic[.succeeded] == 300)
    #expect(report.traffic[.failed] == 300)
    #expect(report.traffic.hops == 500)
    #expect(report.traffic.duration.count == 600)
    #expect(report.timeToHead.count == 500)
    #expect(report.timeToHeadCounts.count == 500)
    #expect(report.timeToHead.maximum <= report.traffic.duration.maximum)
    #expect(report.traffic.bytesSent > 0)
  }

  @Test func `a running transaction counts as in flight, and a cancelled one as cancelled`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let engine = try Engine(Self.configuration())
    let url = try HTTPURL(server.baseURL + "/a")
    let task = Task { await engine.transaction(Request(url: url)) }
    try await server.waitForHeld(1)
    #expect(engine.metricsReports["count"]?.traffic.inFlight == 1)
    task.cancel()
    _ = await task.value
    let report = try #require(engine.metricsReports["count"])
    #expect(report.traffic.inFlight == 0)
    #expect(report.traffic[.cancelled] == 1)
    #expect(report.timeToHead.isEmpty)
    server.release()
    await engine.shutdown()
  }

  @Test func `retries are counted, and the time to head is measured for each response`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = try Self.configuration()
    configuration.addStage(
      "again", StageCode(response: { _, context in if context.attemptNumber < 2 { throw RetryRequestError() } }))
    let engine = try Engine(configuration)
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    let report = try #require(engine.metricsReports["count"])
    await engine.shutdown()
    #expect(report.traffic.hops == 3)
    #expect(report.traffic.retries == 2)
    #expect(report.timeToHead.count == 3)
    #expect(report.series.map(\.durations.count) == [1])
  }

  @Test func `the bytes of every hop are counted, and a report has the engine's counts`() async throws {
    let server = try LoopbackServer { request in
      guard request.target != "/end" else { return ServerResponse(body: .bytes(Array("end".utf8))) }
      return ServerResponse(
        status: 302, headers: [HeaderLine("Location", "/end")], body: .bytes(Array(repeating: 0x20, count: 1000)))
    }
    defer { server.stop() }
    let engine = try Engine(Self.configuration())
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/begin")))
    let report = try #require(engine.metricsReports["count"])
    #expect(report.traffic == engine.metrics())
    #expect(report.traffic.hops == 2 && report.traffic.redirects == 1)
    #expect(report.traffic.bytesReceived == 1003)
    let last = try #require(result.timings)
    #expect(report.traffic.bytesSent > UInt64(last.bytesSent))
    await engine.shutdown()
  }

  @Test func `retries that the budget does not allow are counted separately from retries that were made`() async throws
  {
    let server = try LoopbackServer { _ in ServerResponse(status: 503) }
    defer { server.stop() }
    let text = """
      {"plugins": {"count": {"builtin": "metrics"}}, "tracers": ["count"], "transport": {"loops": 1},
       "retry": {"maxAttempts": 2, "statuses": ["503"], "budget": 0, "backoff": {"base": "1ms", "max": "1ms"}}}
      """
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    // The budget allows ten retries at once, and one more each second.
    repeat { _ = await engine.transaction(request) } while engine.metrics().retriesOverBudget == 0
    let report = try #require(engine.metricsReports["count"])
    await engine.shutdown()
    #expect(report.traffic.retries >= 10)
    #expect(report.traffic.retriesOverBudget == 1)
    #expect(report.traffic.begun == report.traffic.retries + 1)
    #expect(report.prometheusText().contains("\nsluice_retries_over_budget_total 1\n"))
  }

  @Test
  func `two instances measure times separately but share counts, and an engine without an instance has no report`()
    async throws
  {
    let text = """
      {"plugins": {"a": {"builtin": "metrics"}, "b": {"builtin": "metrics"}}, "tracers": ["a"]}
      """
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    let reports = engine.metricsReports
    #expect(reports.mapValues(\.timeToHead.count) == ["a": 1, "b": 0])
    #expect(reports.mapValues(\.traffic.begun) == ["a": 1, "b": 1])
    await engine.shutdown()
    let bare = try Engine(Configuration())
    #expect(bare.metricsReports.isEmpty)
    await bare.shutdown()
  }

  @Test func `metrics accepts no settings, and no list except tracers`() throws {
    let words = "sluice.json:3: plugins.count.config.buckets: unknown key \"buckets\"; \"metrics\" has no settings"
    let setting = try Self.configuration("{\"buckets\": []}")
    #expect(throws: EngineError.self) { try Engine(setting) }
    do { _ = try Engine(setting) } catch { #expect(error.description.contains(words), "\(error)") }
    for list in ["request", "issue", "response"] {
      let configuration = try Self.configuration(list: list)
      let error = #expect(throws: EngineError.self) { try Engine(configuration) }
      #expect(error?.description.contains("plugin \"count\" is in \"\(list)\" but") == true)
    }
  }
}
