import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// `sluice send --explain`, and the environment variables that decide which headers are sent.
@Suite struct ExplainTests {
  private static func send(
    _ config: String, _ arguments: String..., path: String = "/a", environment: [String: String] = [:]
  ) async throws -> (result: CommandResult, headers: [HeaderLine], server: LoopbackServer) {
    try await send(config, arguments: arguments, path: path, environment: environment)
  }

  private static func send(
    _ config: String, arguments: [String], path: String, environment: [String: String]
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

  @Test func `the reasons go to standard error, the body to standard output`() async throws {
    let sent = try await Self.send(
      "\"hosts\": [\"*\"], \"static\": {\"X-Api-Key\": \"secret\"}", "--explain", path: "/a?sig=hidden")
    #expect(sent.result.status == 0)
    #expect(sent.result.outputText == "ok\n")
    let lines = sent.result.errorText.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(lines.first == ["*", "attempt", "0,", "hop", "0:", "GET", sent.server.baseURL + "/a"])
    let traceparent = try #require(sent.headers.first("traceparent"))
    #expect(lines.contains(["headers", "traceparent", "sent", traceparent]))
    #expect(lines.contains(["headers", "tracestate", "nothing_to_send"]))
    #expect(lines.contains(["headers", "X-Api-Key", "sent", "REDACTED"]))
    #expect(!sent.result.errorText.contains("secret") && !sent.result.errorText.contains("hidden"))
    let bare = try await Tool.run("send", "--explain", "http://127.0.0.1:1/")
    #expect(bare.errorText.hasPrefix("* no hop was issued\n"))
  }

  @Test func `with --json, the result has the reasons`() async throws {
    let sent = try await Self.send("\"hosts\": [\"a.example\"]", "--explain", "--document")
    #expect(sent.result.errorText == "")
    let explanation = try #require(try sent.result.documents.first?["explain"])
    let hop = try #require(Array(explanation.elements).first)
    #expect(hop["origin"]?.string == sent.server.baseURL && hop["path"]?.string == "/a")
    let list = try #require(hop["headers"])
    let headers = Array(list.elements)
    #expect(headers.compactMap { $0["reason"]?.string } == Array(repeating: "host_not_listed", count: 4))
    #expect(headers.first?["header"]?.string == "traceparent")
    let silent = try await Self.send("\"hosts\": [\"*\"]", "--document")
    #expect(try silent.result.documents.first?["explain"] == nil)
  }

  /// A reason, and a request whose header is kept or left out for it.
  private struct Case: Sendable {
    let reason: String
    let header: String
    var config = "\"hosts\": [\"*\"]"
    var path = "/a"
    var environment: [String: String] = [:]
    /// A header that the request already has.
    var own: String?
    /// A part of the details after the reason. Empty if there are no details.
    var detail = ""
  }

  private static let cases = [
    Case(
      reason: "host_not_listed", header: "traceparent", config: "\"hosts\": [\"a.example\"]",
      detail: "neither on the list nor the base URL's origin"),
    Case(
      reason: "already_present", header: "traceparent", own: "traceparent: theirs",
      detail: "the request's own is "
        + "kept"),
    Case(reason: "already_present", header: "tracestate", own: "traceparent: theirs", detail: "to another trace"),
    Case(reason: "signed_request", header: "traceparent", path: "/a?X-Amz-Signature=1", detail: "its URL is signed"),
    Case(
      reason: "signed_request", header: "X-Request-ID", own: "Authorization: AWS4-HMAC-SHA256 a",
      detail: "Authorization holds a signature"),
    Case(
      reason: "unsampled", header: "traceparent",
      config: "\"hosts\": [\"*\"], \"sampledOnly\": true, \"sampler\": {\"type\": \"always_off\"}",
      detail: "sampledOnly is true"),
    Case(
      reason: "disabled", header: "traceparent", config: "\"hosts\": [\"*\"], \"disabled\": true",
      detail: "none begins here"),
    Case(
      reason: "disabled", header: "baggage", config: "\"hosts\": [\"*\"], \"propagators\": []",
      detail: "its propagator is not configured"),
    Case(
      reason: "invalid_parent", header: "tracestate", environment: ["TRACEPARENT": valid, "TRACESTATE": "BAD=1"],
      detail: "a key or value is not valid"),
    Case(
      reason: "invalid_parent", header: "baggage",
      environment: ["BAGGAGE": (0..<65).map { "k\($0)=v" }.joined(separator: ",")], detail: "more than 64 members"),
    Case(
      reason: "kind_not_for_host", header: "baggage", config: "\"hosts\": [{\"host\": \"*\", \"send\": [\"trace\"]}]",
      detail: "listed as *"),
    Case(
      reason: "excluded_endpoint", header: "traceparent",
      config: "\"hosts\": [\"*\"], \"exclude\": [\"127.0.0.1\"]", detail: "by exclude"),
    Case(
      reason: "refused", header: "traceparent", config: "\"hosts\": [\"*\"], \"existing\": \"refuse\"",
      own: "traceparent: theirs", detail: "existing is \"refuse\""),
    Case(reason: "nothing_to_send", header: "baggage"), Case(reason: "sent", header: "traceparent"),
  ]

  @Test(arguments: cases.indices)
  func `the text and the JSON output have every reason with its details`(index: Int) async throws {
    let item = Self.cases[index]
    let own = item.own.map { ["-H", $0] } ?? []
    let text = try await Self.send(
      item.config, arguments: ["--explain"] + own, path: item.path, environment: item.environment)
    let line = text.result.errorText.split(separator: "\n").first { $0.hasPrefix("  headers  \(item.header) ") }
    let words = try #require(line, "\(text.result.errorText)").split(separator: " ")
    #expect(words.dropFirst(2).first.map(String.init) == item.reason)
    if !item.detail.isEmpty { #expect(line?.contains(item.detail) == true, "\(text.result.errorText)") }

    let json = try await Self.send(
      item.config, arguments: ["--explain", "--document"] + own, path: item.path, environment: item.environment)
    let hop = try #require(try json.result.documents.first?["explain"]?[0])
    let decision = hop["headers"]?.elements.first { $0["header"]?.string == item.header }
    #expect(decision?["stage"]?.string == "headers")
    #expect(decision?["reason"]?.string == item.reason)
    if !item.detail.isEmpty { #expect(decision?["detail"]?.string?.contains(item.detail) == true, "\(hop)") }
    #expect((decision?["value"] != nil) == (item.reason == "sent"))
  }

  @Test func `--explain shows why an invalid TRACEPARENT is not used`() async throws {
    let environment = ["TRACEPARENT": Self.valid.uppercased(), "TRACESTATE": "a=1"]
    let text = try await Self.send("\"hosts\": [\"*\"]", "--explain", environment: environment)
    #expect(text.result.errorText.contains("not used: traceparent: "))
    let json = try await Self.send("\"hosts\": [\"*\"]", "--explain", "--document", environment: environment)
    let notes = try json.result.documents.first?["explain"]?[0]?["notes"]
    #expect(notes?.elements.contains { $0.string?.hasPrefix("not used: traceparent: ") == true } == true)
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
  func `requests to an OTLP endpoint of the environment get no trace headers`(
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
    /// The `tracestate` that is sent.
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
  func `TRACEPARENT and TRACESTATE follow the rules of W3C Trace Context`(index: Int) async throws {
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
