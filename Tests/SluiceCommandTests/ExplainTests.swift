import SluiceJSON
import SluiceServer
import SluiceTestKit
import Testing

/// `sluice send --explain`, and what the environment says about where headers go.
@Suite struct ExplainTests {
  private static func send(
    _ config: String, _ arguments: String..., path: String = "/a", environment: [String: String] = [:]
  ) async throws -> (result: CommandResult, headers: [HeaderLine], server: LoopbackServer) {
    let server = try LoopbackServer()
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      "{\"plugins\": {\"headers\": {\"builtin\": \"headers\", \"config\": {\(config)}}}, \"issue\": [\"headers\"]}",
      to: "sluice.json")
    var variables = Tool.cleared
    for (name, value) in environment { variables[name] = value.replacing("PORT", with: "\(server.port)") }
    let words = ["send", "-c", file, server.baseURL + path] + arguments
    let result = try await Command.run(Tool.path, words, environment: variables)
    return (result, server.requests.first?.headers ?? [], server)
  }

  @Test func `A6: the reasons stand on standard error, the body on standard output`() async throws {
    let sent = try await Self.send(
      "\"hosts\": [\"*\"], \"static\": {\"X-Api-Key\": \"secret\"}", "--explain", path: "/a?sig=hidden")
    #expect(sent.result.status == 0)
    #expect(sent.result.outputText == "ok\n")
    let lines = sent.result.errorText.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.first == ["*", "attempt", "0,", "hop", "0:", "GET", sent.server.baseURL])
    let traceparent = try #require(sent.headers.first("traceparent"))
    #expect(lines.contains(["headers", "traceparent", "sent", traceparent]))
    #expect(lines.contains(["headers", "tracestate", "nothing_to_send"]))
    #expect(lines.contains(["headers", "X-Api-Key", "sent", "REDACTED"]))
    #expect(!sent.result.errorText.contains("secret") && !sent.result.errorText.contains("hidden"))
    let bare = try await Tool.run("send", "--explain", "http://127.0.0.1:1/")
    #expect(bare.errorText.hasPrefix("* no hop was issued\n"))
  }

  @Test func `A6: with --json the result has them`() async throws {
    let sent = try await Self.send("\"hosts\": [\"a.example\"]", "--explain", "--json")
    #expect(sent.result.errorText == "")
    let explanation = try #require(try sent.result.documents.first?["explain"])
    let hop = try #require(Array(explanation.elements).first)
    #expect(hop["origin"]?.string == sent.server.baseURL)
    let list = try #require(hop["headers"])
    let headers = Array(list.elements)
    #expect(headers.compactMap { $0["reason"]?.string } == Array(repeating: "host_not_listed", count: 4))
    #expect(headers.first?["header"]?.string == "traceparent")
    let silent = try await Self.send("\"hosts\": [\"*\"]", "--json")
    #expect(try silent.result.documents.first?["explain"] == nil)
  }

  @Test(arguments: [
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:PORT", true),
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:PORT/v1/traces", true),
    ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "127.0.0.1:PORT", true),
    ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "grpc://127.0.0.1:PORT/", true),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://127.0.0.1:PORT", false),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1", false), ("OTEL_EXPORTER_OTLP_ENDPOINT", "not a URL", false),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "", false),
  ])
  func `an endpoint of the program's own telemetry gets no headers`(
    variable: String, value: String, isExcluded: Bool
  ) async throws {
    let sent = try await Self.send("\"hosts\": [\"*\"]", "--explain", environment: [variable: value])
    #expect(sent.result.status == 0)
    #expect((sent.headers.first("traceparent") == nil) == isExcluded)
    #expect(sent.headers.isEmpty == false)
    #expect(sent.result.errorText.contains("excluded_endpoint") == isExcluded)
    #expect(sent.result.errorText.contains("by \(variable))") == isExcluded)
  }

  private static let trace = "0123456789abcdef0123456789abcdef"
  private static let valid = "00-\(trace)-0123456789abcdef-01"

  private struct Vector: Sendable {
    let parent: String
    let state: String
    let isContinued: Bool
    /// The state that is sent.
    let sent: String?

    init(_ parent: String, _ state: String, continued: Bool = false, sends sent: String? = nil) {
      self.parent = parent
      self.state = state
      isContinued = continued
      self.sent = sent
    }
  }

  private static func parent(version: String = "00", flags: String = "01", more: String = "") -> String {
    "\(version)-\(trace)-0123456789abcdef-\(flags)\(more)"
  }

  private static let vectors = [
    Vector(valid, "a=1,b@c=2", continued: true, sends: "a=1,b@c=2"), Vector(parent(flags: "00"), "", continued: true),
    Vector(parent(flags: "02"), "", continued: true), Vector(parent(more: "-"), "a=1"),
    Vector(parent(more: "."), "a=1"),
    Vector(parent(version: "cc"), "a=1", continued: true, sends: "a=1"),
    Vector(parent(version: "cc", more: "-more"), "a=1", continued: true, sends: "a=1"),
    Vector(parent(version: "cc", more: ".more"), "a=1"), Vector(parent(version: "ff"), "a=1"),
    Vector(valid.uppercased(), "a=1"), Vector(parent(version: "000"), "a=1"),
    Vector("00-00000000000000000000000000000000-0123456789abcdef-01", "a=1"),
    Vector("00-\(trace)-0000000000000000-01", "a=1"), Vector(" \t" + valid + " ", "a=1", continued: true, sends: "a=1"),
    Vector("", "a=1"), Vector(valid, "a=1,A=2", continued: true),
    Vector(valid, "a=1,,b=2", continued: true, sends: "a=1,,b=2"),
    Vector(valid, "a=", continued: true), Vector(valid, "a=b=c", continued: true),
  ]

  @Test(arguments: vectors.indices)
  func `A1: W3C's rules hold for the parent that the environment carries`(index: Int) async throws {
    let vector = Self.vectors[index]
    let environment = ["TRACEPARENT": vector.parent, "TRACESTATE": vector.state, "BAGGAGE": "a=1,=,b=%20;p"]
    let arrived = try await Self.send("\"hosts\": [\"*\"]", "--explain", environment: environment)
    let traceparent = try #require(arrived.headers.first("traceparent"))
    #expect(traceparent.utf8.count == 55)
    #expect(traceparent.contains(Self.trace) == vector.isContinued)
    #expect(!traceparent.contains("-0123456789abcdef-"))
    if vector.isContinued {
      let flags = vector.parent.drop { $0 == " " || $0 == "\t" }.prefix(55).suffix(1)
      #expect(traceparent.suffix(1) == flags)
    }
    #expect(arrived.headers.first("tracestate") == vector.sent)
    #expect(arrived.headers.first("baggage") == "a=1,b=%20;p")
    let losesState = vector.sent == nil && !vector.state.isEmpty
    let isUnused = !vector.parent.isEmpty && (!vector.isContinued || losesState)
    #expect(arrived.result.errorText.contains("not used: trace") == isUnused)
  }
}
