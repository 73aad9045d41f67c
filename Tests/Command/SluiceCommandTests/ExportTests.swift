import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The plugin otlp in the command, configured by OpenTelemetry's environment variables.
@Suite struct ExportTests {
  private static func header(_ name: String, of request: ServerRequest) -> String? {
    request.headers.first { $0.name.lowercased() == name }?.value
  }

  @Test func `a run exports all its spans before it ends`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let collector = try LoopbackServer { _ in .text("{}", type: "application/json") }
    defer { collector.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      """
      {"plugins": {"otlp": {"library": "\(BuiltProducts.library("otlp"))", "delivery": "queued"},
                   "headers": {"builtin": "headers", "config": {"hosts": ["*"]}}},
       "issue": ["headers"], "tracers": ["otlp"], "transport": {"loops": 2}}
      """, to: "c.json")
    let input = String(repeating: #"{"url": "\#(server.baseURL)/"}"# + "\n", count: 700)
    let environment = [
      "OTEL_EXPORTER_OTLP_ENDPOINT": collector.baseURL, "OTEL_SERVICE_NAME": "shop",
      "OTEL_EXPORTER_OTLP_HEADERS": "api-key=S3CRET", "OTEL_BSP_SCHEDULE_DELAY": "3600000",
    ]
    let run = try await Tool.run("run", "-q", "-c", file, input: input, environment: environment)
    #expect(run.status == 0, "\(run.errorText)")
    #expect(!run.errorText.contains("S3CRET"))
    let traces = collector.requests.filter { $0.target == "/v1/traces" }
    let documents = try traces.map { try JSONValue(parsing: $0.body) }
    let batches = documents.map { document in
      document["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"].map { Array($0.elements) } ?? []
    }
    #expect(batches.count >= 2 && batches.allSatisfy { $0.count <= 512 })
    let spans: [String] = batches.flatMap { $0 }.map { span in
      "00-\(span["traceId"]?.string ?? "")-\(span["spanId"]?.string ?? "")"
    }
    let sent: [String] = server.requests.map { Self.header("traceparent", of: $0) ?? "" }.map { String($0.dropLast(3)) }
    #expect(spans.count == 700 && Set(spans) == Set(sent))
    #expect(collector.requests.allSatisfy { Self.header("api-key", of: $0) == "S3CRET" })
    #expect(collector.requests.allSatisfy { Self.header("traceparent", of: $0) == nil })
    #expect(traces.first.map { String(decoding: $0.body, as: UTF8.self).contains(#""stringValue":"shop""#) } == true)
  }

  @Test func `an invalid variable is refused, and the message names it`() async throws {
    let plugin = BuiltProducts.library("otlp")
    let run = try await Tool.run(
      "send", "--plugin", plugin, "http://127.0.0.1:9/", environment: ["OTEL_BSP_SCHEDULE_DELAY": "5s"])
    #expect(run.status == 3, "\(run.errorText)")
    #expect(run.errorText.contains(#"OTEL_BSP_SCHEDULE_DELAY: expected a number of milliseconds"#))
  }
}
