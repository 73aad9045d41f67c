import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import SluiceTraceContext
import Testing

/// The spans and durations of the shipped plugin otlp, as a collector gets them.
@Suite struct ExportSpanTests {
  private static let headers = #", "headers": {"builtin": "headers", "config": {"hosts": ["127.0.0.1"]}}"#
  private static let issue = #", "issue": ["headers"]"#
  private static let caller = (trace: "0af7651916cd43dd8448eb211c80319c", span: "b7ad6b7169203331")

  private static func parent(_ flags: String = "01") -> ParentContext {
    ParentContext(traceparent: "00-\(caller.trace)-\(caller.span)-\(flags)")
  }

  private static func traceparents(_ server: LoopbackServer) -> [String] {
    server.requests.compactMap { $0.value(of: "traceparent") }
  }

  @Test(arguments: ["direct", "queued"])
  func `each hop of a transaction is a client span in the caller's trace`(
    _ delivery: String
  ) async throws {
    let visits = Watched(0)
    let server = try LoopbackServer { request in
      if request.target.hasPrefix("/a") {
        return ServerResponse(status: 302, headers: [HeaderLine("Location", "/b?c=d")])
      }
      let visit = visits.update { visits in
        visits += 1
        return visits
      }
      return ServerResponse(status: visit == 1 ? 503 : 404)
    }
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(
      delivery: delivery, plugins: Self.headers, lists: Self.issue + #", "retry": {"statuses": [503]}"#)
    let request = Request(url: try HTTPURL("http://u:S3CRET@127.0.0.1:\(server.port)/a?sig=S3CRET"))
    let result = await engine.transaction(request, parent: Self.parent())
    await engine.shutdown(deactivation: Patience.limit)
    #expect(result.attempts == 2 && result.response?.status == 404)

    let spans = try collector.spans()
    #expect(spans.count == 4)
    #expect(spans.allSatisfy { $0.text("traceId") == Self.caller.trace && $0.text("parentSpanId") == Self.caller.span })
    // The `traceparent` headers that the server got.
    #expect(
      spans.map { "00-\(Self.caller.trace)-\($0.text("spanId") ?? "")-01" } == Self.traceparents(server))
    #expect(spans.allSatisfy { $0.document["kind"] == 3 && $0.text("name") == "GET" && $0.document["flags"] == 1 })
    #expect(spans.allSatisfy { $0.start < $0.end })
    #expect(zip(spans, spans.dropFirst()).allSatisfy { $0.start <= $1.start })
    #expect(spans.allSatisfy { $0.attribute("server.address") == "127.0.0.1" })
    #expect(spans.allSatisfy { $0.attribute("server.port") == "\(server.port)" })
    #expect(spans.allSatisfy { $0.attribute("http.request.method") == "GET" })
    #expect(spans.map { $0.attribute("http.request.resend_count") } == [nil, "1", "2", "3"])
    #expect(spans.map { $0.attribute("http.response.status_code") } == ["302", "503", "302", "404"])
    #expect(spans.map(\.status) == [0, 2, 0, 2] && spans.allSatisfy { $0.message == nil })
    #expect(spans.map { $0.attribute("error.type") } == [nil, "503", nil, "404"])
    let first = "http://REDACTED:REDACTED@127.0.0.1:\(server.port)/a?sig=REDACTED"
    #expect(spans[0].attribute("url.full") == first && spans[2].attribute("url.full") == first)
    #expect(spans[1].attribute("url.full")?.hasSuffix("/b?c=d") == true)
    #expect(!collector.server.requests.contains { String(decoding: $0.body, as: UTF8.self).contains("S3CRET") })
    #expect(spans.allSatisfy { $0.attribute("network.protocol.version") == "1.1" })
    #expect(spans.allSatisfy { $0.attribute("network.peer.address") == "127.0.0.1" })
  }

  @Test func `redirects, retries and failed hops share one trace, with stages' spans as children`() async throws {
    let visits = Watched(0)
    let port = try Loopback.freePort()
    let server = try LoopbackServer { request in
      let visit = visits.update { visits in
        visits += 1
        return visits
      }
      guard request.target == "/a" else { return ServerResponse(status: 503) }
      let location = visit == 1 ? "/b" : "http://127.0.0.1:\(port)/"
      return ServerResponse(status: 302, headers: [HeaderLine("Location", location)])
    }
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let product = try await PluginCompiler.compile("measures-itself")
    chmod(product.path, 0o755)
    let engine = try collector.engine(
      plugins: Self.headers + #", "stage": {"library": "\#(product.path)"}"#,
      lists: Self.issue + #", "response": ["stage"], "retry": {"statuses": [503], "maxAttempts": 2}"#)
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a")), parent: Self.parent())
    await engine.shutdown(deactivation: Patience.limit)
    withExtendedLifetime(product) {}
    #expect(result.error?.code == "connect" && result.attempts == 2)

    let spans = try collector.spans()
    #expect(spans.allSatisfy { $0.text("traceId") == Self.caller.trace })
    #expect(Set(spans.compactMap { $0.text("spanId") }).count == spans.count)
    let hops = spans.filter { $0.attribute("sluice.stage") == nil }
    #expect(hops.map { $0.attribute("http.response.status_code") } == ["302", "503", "302", nil])
    #expect(hops.allSatisfy { $0.text("parentSpanId") == Self.caller.span && $0.document["kind"] == 3 })
    #expect(hops.map { $0.attribute("http.request.resend_count") } == [nil, "1", "2", "3"])
    #expect(hops.map(\.status) == [0, 2, 0, 2])
    #expect(hops.map { $0.attribute("error.type") } == [nil, "503", nil, "connect"])
    #expect(hops.map(\.message) == [nil, nil, nil, result.error?.message])
    let sent = Self.traceparents(server).map { $0.split(separator: "-").map(String.init)[2] }
    #expect(hops.dropLast().map { $0.text("spanId") } == sent && sent.count == 3)
    // The parent of the stage's span is the hop whose response the stage got. The span has its own status.
    let work = spans.filter { $0.attribute("sluice.stage") == "stage" }
    #expect(work.map { $0.text("name") } == ["full"] && work.map { $0.text("parentSpanId") } == [sent[1]])
    #expect(work.map(\.status) == [2] && work.allSatisfy { $0.attribute("http.request.resend_count") == nil })
  }

  @Test func `a transaction without a caller's trace begins a trace, which contains the stages' spans`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let product = try await PluginCompiler.compile("measures-itself")
    chmod(product.path, 0o755)
    let engine = try collector.engine(
      plugins: Self.headers + #", "stage": {"library": "\#(product.path)"}"#,
      lists: #", "request": ["stage"], "issue": ["headers", "stage"], "response": ["stage"]"#)
    _ = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a")))
    await engine.shutdown(deactivation: Patience.limit)
    withExtendedLifetime(product) {}
    let sent = try #require(Self.traceparents(server).first).split(separator: "-").map(String.init)
    let spans = try collector.spans()
    #expect(spans.count == 5 && spans.allSatisfy { $0.text("traceId") == sent[1] })
    #expect(Set(spans.compactMap { $0.text("spanId") }).count == 5)
    let hop = try #require(spans.first { $0.document["kind"] == 3 && $0.text("name") == "GET" })
    #expect(hop.text("spanId") == sent[2] && hop.text("parentSpanId") == nil)
    let work = try #require(spans.first { $0.text("name") == "work" })
    #expect(work.document["kind"] == 1 && work.status == 1 && work.text("parentSpanId") == nil)
    #expect(work.attribute("word") == "REDACTED" && work.attribute("sluice.stage") == "stage")
    #expect(work.attributes["count"] == ["intValue": "-9223372036854775808"])
    #expect(work.attributes["part"] == ["doubleValue": 0.5] && work.attributes["yes"] == ["boolValue": true])
    let full = try #require(spans.first { $0.text("name") == "full" })
    #expect(full.document["kind"] == 3 && full.status == 2 && full.text("parentSpanId") == sent[2])
    #expect(full.document["droppedAttributesCount"] == 3)
    let open = try #require(spans.first { $0.text("name") == "left open" })
    #expect(open.attributes["sluice.span.unfinished"] == ["boolValue": true])
  }

  @Test func `the span of a hop whose connection failed is an error with code and message`() async throws {
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(plugins: Self.headers, lists: Self.issue)
    let port = try Loopback.freePort()
    let result = await engine.transaction(
      Request(method: "PURGE", url: try HTTPURL("http://127.0.0.1:\(port)/")), parent: Self.parent())
    await engine.shutdown(deactivation: Patience.limit)
    #expect(result.error?.code == "connect")
    let span = try #require(try collector.spans().first)
    #expect(try collector.spans().count == 1)
    #expect(span.status == 2 && span.message == result.error?.message)
    #expect(span.attribute("error.type") == "connect" && span.attribute("http.response.status_code") == nil)
    #expect(span.text("name") == "HTTP" && span.attribute("http.request.method") == "_OTHER")
    #expect(span.attribute("http.request.method_original") == "PURGE")
    // Nothing was sent, so the exporter made up the span's id.
    #expect(span.text("traceId") == Self.caller.trace && span.text("parentSpanId") == Self.caller.span)
    #expect(span.text("spanId")?.count == 16 && span.text("spanId") != Self.caller.span)
  }

  @Test func `if a trace is not sampled, its spans are not exported, but the durations are`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(plugins: Self.headers, lists: Self.issue)
    _ = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a")), parent: Self.parent("00"))
    await engine.shutdown(deactivation: Patience.limit)
    #expect(try collector.spans().isEmpty)
    #expect(!collector.server.requests.contains { $0.target == "/v1/traces" })
    #expect(try collector.points("http.client.request.duration").map { $0["count"]?.string } == ["1"])
  }

  @Test func `durations are histograms by method, server and result`() async throws {
    let server = try LoopbackServer { request in ServerResponse(status: request.target == "/bad" ? 500 : 200) }
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine()
    for path in ["/a", "/b", "/bad"] { _ = await engine.transaction(Request(url: try HTTPURL(server.baseURL + path))) }
    await engine.shutdown(deactivation: Patience.limit)
    let points = try collector.points("http.client.request.duration").sorted {
      $0["count"]?.string ?? "" > $1["count"]?.string ?? ""
    }
    #expect(points.map { $0["count"]?.string } == ["2", "1"])
    let good = ExportCollector.attributes(points[0])
    #expect(
      good == [
        "http.request.method": ["stringValue": "GET"], "server.address": ["stringValue": "127.0.0.1"],
        "server.port": ["intValue": JSONValue("\(server.port)")],
        "http.response.status_code": ["intValue": "200"], "network.protocol.version": ["stringValue": "1.1"],
      ])
    #expect(ExportCollector.attributes(points[1])["error.type"] == ["stringValue": "500"])
    for point in points {
      let counts = point.items("bucketCounts").compactMap { $0.string.flatMap { Int($0) } }
      #expect(counts.count == (point["explicitBounds"]?.count ?? 0) + 1)
      #expect(counts.reduce(0, +) == point["count"]?.string.flatMap { Int($0) })
      #expect((point["sum"]?.number ?? 0) > 0)
    }
    let outcomes = try collector.points("sluice.transaction.duration").compactMap {
      ExportCollector.attributes($0)["sluice.outcome"]?["stringValue"]?.string
    }
    #expect(outcomes.sorted() == ["failed", "succeeded"])
  }

  @Test func `requests to the collector are not traced, and pass no stage`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try ExportCollector()
    defer { collector.server.stop() }
    let engine = try collector.engine(
      #", "batchSpans": 1, "headers": {"api-key": "S3CRET"}, "serviceName": "shop", "resource": {"a": "b"}"#,
      plugins: #", "headers": {"builtin": "headers", "config": {"hosts": ["*"]}}"#, lists: Self.issue)
    for _ in 0..<20 { _ = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a"))) }
    await engine.shutdown(deactivation: Patience.limit)
    #expect(try collector.spans().count == 20)
    #expect(try collector.spans().allSatisfy { $0.attribute("server.port") == "\(server.port)" })
    let sent = collector.server.requests
    #expect(sent.allSatisfy { $0.value(of: "traceparent") == nil && $0.method == "POST" })
    #expect(sent.allSatisfy { $0.value(of: "content-type") == "application/json" })
    #expect(sent.allSatisfy { $0.value(of: "api-key") == "S3CRET" })
    #expect(try collector.resource()["service.name"] == ["stringValue": "shop"])
    #expect(try collector.resource()["a"] == ["stringValue": "b"])
    #expect(collector.lines("S3CRET").isEmpty)
  }
}
