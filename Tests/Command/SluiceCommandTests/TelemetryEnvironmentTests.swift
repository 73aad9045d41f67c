import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// OpenTelemetry's environment variables, and the trace context in the environment, with the real command.
@Suite struct TelemetryEnvironmentTests {
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  private static func send(
    _ environment: [String: String?], config: String = "\"hosts\": [\"*\"]"
  ) async throws -> (headers: [HeaderLine], errorText: String) {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      "{\"plugins\": {\"trace\": {\"builtin\": \"headers\", \"config\": {\(config)}}}, \"issue\": [\"trace\"]}",
      to: "sluice.json")
    let result = try await Tool.run("send", "-c", file, server.baseURL + "/", environment: environment)
    #expect(result.status == 0, "\(result.errorText)")
    return (try #require(server.requests.first).headers, result.errorText)
  }

  @Test func `without a setting in the configuration, OTEL_PROPAGATORS applies to reading and sending`()
    async throws
  {
    let environment: [String: String?] = [
      "OTEL_PROPAGATORS": "b3multi,jaeger", "B3": "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
      "TRACEPARENT": Self.parent.replacing("0af7", with: "ffff"),
    ]
    let silent = try await Self.send(environment)
    #expect(silent.headers.first("X-B3-TraceId") == "0af7651916cd43dd8448eb211c80319c")
    #expect(silent.headers.first("traceparent") == nil)
    #expect(silent.errorText.contains("OTEL_PROPAGATORS: \"jaeger\" is unknown and is ignored"))
    let spoken = try await Self.send(environment, config: "\"hosts\": [\"*\"], \"propagators\": [\"tracecontext\"]")
    #expect(spoken.headers.first("traceparent")?.contains("0af7651916cd43dd8448eb211c80319c") == true)
    #expect(spoken.headers.first("X-B3-TraceId") == nil)
    #expect(spoken.errorText == "")
  }

  @Test func `without a setting in the configuration, OTEL_TRACES_SAMPLER applies`() async throws {
    let environment: [String: String?] = ["OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"]
    #expect(try await Self.send(environment).headers.first("traceparent")?.hasSuffix("-02") == true)
    let spoken = try await Self.send(environment, config: "\"hosts\": [\"*\"], \"sampler\": {\"type\": \"always_on\"}")
    #expect(spoken.headers.first("traceparent")?.hasSuffix("-03") == true)
  }

  @Test func `with OTEL_SDK_DISABLED, the trace context of the environment is sent unchanged`() async throws {
    let handed = try await Self.send(["OTEL_SDK_DISABLED": "true", "TRACEPARENT": Self.parent])
    #expect(handed.headers.first("traceparent") == Self.parent)
    #expect(try await Self.send(["OTEL_SDK_DISABLED": "true"]).headers.first("traceparent") == nil)
    let spoken = try await Self.send(
      ["OTEL_SDK_DISABLED": "true", "TRACEPARENT": Self.parent], config: "\"hosts\": [\"*\"], \"disabled\": false")
    #expect(spoken.headers.first("traceparent") != Self.parent)
  }

  @Test func `parent, state and baggage are read from the environment, and an empty variable counts as absent`()
    async throws
  {
    let sent = try await Self.send(["TRACEPARENT": Self.parent, "TRACESTATE": "a=1", "BAGGAGE": ""])
    #expect(sent.headers.first("traceparent")?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
    #expect(sent.headers.first("tracestate") == "a=1")
    #expect(sent.headers.first("baggage") == nil)
  }
}
