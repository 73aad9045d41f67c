import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestServers
import SluiceTraceContext
import Testing

/// The built-in `headers` in an engine, against real sockets.
@Suite struct HeadersStageTests {
  private static let parent = ParentContext(
    traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01", tracestate: "vendor=opaque, other=1",
    baggage: "user=alice,tier=gold;p=1")

  private static func configuration(_ config: String, baseURL: String? = nil) throws -> Configuration {
    let transport = baseURL.map { "\"transport\": {\"baseURL\": \"\($0)\"}," } ?? ""
    let text = """
      {\(transport) "plugins": {"headers": {"builtin": "headers", "config": \(config)}}, "issue": ["headers"]}
      """
    return try Configuration(text: Array(text.utf8))
  }

  /// Sends one request and returns the header lines that arrived.
  private static func arrived(
    _ config: String, headers: HeaderFields = HeaderFields(), parent: ParentContext = ParentContext(),
    useBaseURL: Bool = false
  ) async throws -> [HeaderLine] {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(configuration(config, baseURL: useBaseURL ? server.baseURL : nil))
    let request = Request(url: try HTTPURL(server.baseURL + "/a"), headers: headers)
    let result = await engine.transaction(request, parent: parent)
    #expect(result.error == nil)
    await engine.shutdown()
    return try #require(server.requests.first).headers
  }

  @Test func `a listed host gets traceparent, tracestate, baggage and the request id`() async throws {
    let lines = try await Self.arrived("{\"hosts\": [\"127.0.0.1\"]}", parent: Self.parent)
    let traceparent = try #require(lines.first("traceparent"))
    #expect(traceparent.hasPrefix("00-0123456789abcdef0011223344556677-") && traceparent.hasSuffix("-01"))
    #expect(!traceparent.contains("8899aabbccddeeff"))
    #expect(lines.first("tracestate") == "vendor=opaque, other=1")
    #expect(lines.first("baggage") == "user=alice,tier=gold;p=1")
    #expect(lines.first("X-Request-ID")?.count == 36)
    #expect(lines.first("X-Session-ID") == nil)
  }

  @Test(arguments: ["{\"hosts\": [\"localhost\"]}", "{\"hosts\": [\"*.0.0.1.example\"]}", "{\"hosts\": []}", "{}"])
  func `a host that is not listed gets nothing`(config: String) async throws {
    let lines = try await Self.arrived(config, parent: Self.parent)
    for name in ["traceparent", "tracestate", "baggage", "X-Request-ID"] { #expect(lines.first(name) == nil) }
  }

  @Test func `a star in the list matches every host`() async throws {
    let lines = try await Self.arrived("{\"hosts\": [\"*\"]}")
    #expect(lines.first("traceparent") != nil)
  }

  @Test func `if there is no list of hosts, only the origin of the base URL is listed`() async throws {
    #expect(try await Self.arrived("{}", useBaseURL: true).first("traceparent") != nil)
    let other = try LoopbackServer()
    defer { other.stop() }
    let configuration = try Self.configuration("{}", baseURL: "http://127.0.0.1:1")
    let engine = try Engine(configuration)
    _ = try await engine.perform(Request(url: HTTPURL(other.baseURL + "/a")))
    #expect(other.requests.first?.headers.first("traceparent") == nil)
    await engine.shutdown()
  }

  @Test func `without a parent, the transaction begins a sampled trace, and a tracestate of the caller is dropped`()
    async throws
  {
    let parent = ParentContext(tracestate: "vendor=opaque")
    let lines = try await Self.arrived("{\"hosts\": [\"*\"]}", parent: parent)
    let traceparent = try #require(lines.first("traceparent"))
    let requestID = try #require(lines.first("X-Request-ID"))
    #expect(traceparent.hasPrefix("00-\(requestID.filter { $0 != "-" })-") && traceparent.hasSuffix("-03"))
    #expect(lines.first("tracestate") == nil)
  }

  @Test func `if the parent is invalid, a new trace begins, without the parent's tracestate but with its baggage`()
    async throws
  {
    let parent = ParentContext(traceparent: "00-00-00-00", tracestate: "vendor=opaque", baggage: "user=alice")
    let lines = try await Self.arrived("{\"hosts\": [\"*\"]}", parent: parent)
    #expect(lines.first("traceparent")?.hasSuffix("-03") == true)
    #expect(lines.first("tracestate") == nil)
    #expect(lines.first("baggage") == "user=alice")
  }

  @Test func `a tracestate with an invalid member is dropped, and the trace continues`() async throws {
    let parent = ParentContext(
      traceparent: Self.parent.traceparent, tracestate: "vendor=opaque,BAD=1", baggage: Self.parent.baggage)
    let lines = try await Self.arrived("{\"hosts\": [\"*\"]}", parent: parent)
    #expect(lines.first("traceparent")?.contains("0123456789abcdef0011223344556677") == true)
    #expect(lines.first("tracestate") == nil)
  }

  @Test func `a trace that came in Trace Context headers is sent in both forms of B3`() async throws {
    let config = "{\"hosts\": [\"*\"], \"propagators\": [\"b3\", \"b3multi\", \"tracecontext\"]}"
    let lines = try await Self.arrived(config, parent: Self.parent)
    let single = try #require(lines.first("b3")).split(separator: "-")
    #expect(single.count == 3)
    #expect(single.first == "0123456789abcdef0011223344556677")
    #expect(lines.first("X-B3-TraceId") == "0123456789abcdef0011223344556677")
    #expect(lines.first("X-B3-SpanId") == single.dropFirst().first.map(String.init))
    #expect(lines.first("traceparent")?.split(separator: "-").dropFirst(2).first == single.dropFirst().first)
    #expect(lines.first("X-B3-Sampled") == "1")
  }

  @Test func `headers that the request already has are kept, and no tracestate is added to them`() async throws {
    let lines = try await Self.arrived(
      "{\"hosts\": [\"*\"], \"static\": {\"X-App\": \"ours\"}, \"sessionId\": {}}",
      headers: ["Traceparent": "theirs", "x-app": "theirs", "Baggage": "theirs=1", "x-session-id": "theirs"],
      parent: Self.parent)
    #expect(lines.values(of: "traceparent") == ["theirs"])
    #expect(lines.values(of: "tracestate") == [])
    #expect(lines.values(of: "baggage") == ["theirs=1"])
    #expect(lines.values(of: "x-app") == ["theirs"])
    #expect(lines.values(of: "x-session-id") == ["theirs"])
  }

  @Test func `existing headers are replaced if the configuration says so`() async throws {
    let lines = try await Self.arrived(
      "{\"hosts\": [\"*\"], \"existing\": \"replace\", \"static\": {\"X-App\": \"ours\"}}",
      headers: ["Traceparent": "theirs", "Tracestate": "theirs=1", "x-app": "one", "X-App": "two"])
    #expect(lines.values(of: "traceparent").count == 1)
    #expect(lines.first("traceparent")?.hasSuffix("-03") == true)
    #expect(lines.values(of: "tracestate") == [])
    #expect(lines.values(of: "x-app") == ["ours"])
  }

  @Test func `an existing header fails the hop before it is sent if the configuration says so`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Self.configuration("{\"hosts\": [\"*\"], \"existing\": \"refuse\"}"))
    let url = try HTTPURL(server.baseURL + "/a")
    let result = await engine.transaction(Request(url: url, headers: ["traceparent": "theirs"]))
    #expect(result.error?.code == "header_exists")
    #expect(result.error?.stage == "headers")
    #expect(result.error?.message.contains("\"traceparent\"") == true)
    #expect(server.requestCount == 0)
    let same = await engine.transaction(Request(url: url, headers: ["x-request-id": "r1"]))
    #expect(same.error == nil)
    #expect(server.requests.first?.headers.values(of: "x-request-id") == ["r1"])
    await engine.shutdown()
  }

  @Test func `a retry has the same trace id and request id and a new span id`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = try Self.configuration("{\"hosts\": [\"*\"]}")
    configuration.addStage(
      "again", StageCode(response: { _, context in if context.attemptNumber < 2 { throw RetryRequestError() } }))
    let engine = try Engine(configuration)
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    await engine.shutdown()
    let parents = server.requests.compactMap { $0.headers.first("traceparent")?.split(separator: "-") }
    #expect(parents.map(\.count) == [4, 4, 4])
    #expect(Set(parents.map { $0.dropFirst().first }).count == 1)
    #expect(Set(parents.map { $0.dropFirst(2).first }).count == 3)
    #expect(Set(server.requests.map { $0.headers.values(of: "X-Request-ID") }).count == 1)
  }

  @Test func `every transaction without a parent begins its own trace`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Self.configuration("{\"hosts\": [\"*\"]}"))
    for _ in 0..<3 { _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a"))) }
    await engine.shutdown()
    #expect(
      Set(server.requests.compactMap { $0.headers.first("traceparent")?.split(separator: "-").dropFirst().first }).count
        == 3)
  }

  @Test func `the configuration can rename headers and omit each kind of header`() async throws {
    let config = """
      {"hosts": ["*"], "propagators": [], "requestId": {"header": "X-Correlation"},
       "sessionId": {"header": "X-Run", "value": "run-7"}, "static": {"X-App": "shop"}}
      """
    let lines = try await Self.arrived(config, parent: Self.parent)
    #expect(lines.first("X-Correlation")?.count == 36)
    #expect(lines.first("X-Run") == "run-7")
    #expect(lines.first("X-App") == "shop")
    #expect(lines.first("traceparent") == nil)
    #expect(lines.first("baggage") == nil)
    #expect(lines.first("X-Request-ID") == nil)
    let bare = try await Self.arrived("{\"hosts\": [\"*\"], \"requestId\": {\"header\": null}}")
    #expect(bare.first("X-Request-ID") == nil)
  }

  @Test func `the session id is the same for every request of the process`() async throws {
    let config = "{\"hosts\": [\"*\"], \"sessionId\": {}}"
    let first = try await Self.arrived(config).first("X-Session-ID")
    #expect(first?.count == 36)
    #expect(try await Self.arrived(config).first("X-Session-ID") == first)
  }

  @Test func `two stages with different hosts and headers work together`() async throws {
    let text = """
      {"plugins": {"a": {"builtin": "headers", "config": {"hosts": ["*"]}},
                   "b": {"builtin": "headers", "config": {"hosts": ["*"], "static": {"X-B": "1"}}}},
       "issue": ["a", "b"]}
      """
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    await engine.shutdown()
    let lines = try #require(server.requests.first).headers
    #expect(lines.values(of: "traceparent").count == 1)
    #expect(lines.first("X-B") == "1")
  }
}
