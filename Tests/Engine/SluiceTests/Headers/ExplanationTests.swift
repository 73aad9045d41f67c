import Sluice
import SluicePlugin
import SluicePipeline
import SluiceServer
import SluiceTestServers
import SluiceTraceContext
import Testing

/// Explanations: why each header was sent or not.
@Suite struct ExplanationTests {
  private typealias Reason = HeaderDecision.Reason

  private static func reasons(
    _ config: String, path: String = "/a", headers: HeaderFields = HeaderFields(),
    parent: ParentContext = HeaderPlaces.parent
  ) async throws -> [String: HeaderDecision.Reason] {
    let arrived = try await HeaderPlaces.arrived(config, path: path, headers: headers, parent: parent, explained: true)
    let hops = try #require(arrived.result.explanation)
    let hop = try #require(hops.first)
    #expect(hops.count == 1)
    for decision in hop.decisions where decision.reason == .sent {
      #expect(arrived.headers.first(decision.header) == decision.value, "\(decision.header)")
    }
    for decision in hop.decisions where decision.reason != .sent && decision.reason != .alreadyPresent {
      #expect(decision.value == nil)
      #expect(arrived.headers.first(decision.header) == headers[decision.header], "\(decision.header)")
    }
    return Dictionary(hop.decisions.map { ($0.header.lowercased(), $0.reason) }) { first, _ in first }
  }

  @Test func `the explanation names each sent header with its value`() async throws {
    let reasons = try await Self.reasons("\"hosts\": [\"*\"], \(HeaderPlaces.kinds)")
    #expect(
      reasons == [
        "traceparent": .sent, "tracestate": .sent, "baggage": .sent, "x-request-id": .sent, "x-session-id": .sent,
        "x-app": .sent,
      ])
  }

  @Test(arguments: [
    ("\"hosts\": [\"a.example\"]", "/a", HeaderDecision.Reason.hostNotListed),
    ("\"hosts\": [\"*\"], \"exclude\": [\"127.0.0.1\"]", "/a", .excludedEndpoint),
    ("\"hosts\": [\"*\"]", "/a?X-Amz-Signature=1", .signedRequest),
    ("\"hosts\": [{\"host\": \"*\", \"send\": []}]", "/a", .kindNotForHost),
  ])
  func `a reason that excludes all headers is given for each of them`(
    config: String, path: String, reason: HeaderDecision.Reason
  ) async throws {
    let reasons = try await Self.reasons("\(config), \(HeaderPlaces.kinds)", path: path)
    #expect(Set(reasons.values) == [reason])
    #expect(reasons.count == 6)
  }

  @Test func `existing headers, and the headers that belong to them, are reported as present`() async throws {
    let config =
      "\"hosts\": [\"*\"], \"propagators\": [\"tracecontext\", \"baggage\", \"b3multi\"], \(HeaderPlaces.kinds)"
    let reasons = try await Self.reasons(config, headers: ["Traceparent": "theirs", "x-b3-traceid": "1", "X-App": "a"])
    #expect(reasons["traceparent"] == .alreadyPresent)
    #expect(reasons["tracestate"] == .alreadyPresent)
    #expect(reasons["x-b3-spanid"] == .alreadyPresent)
    #expect(reasons["x-app"] == .alreadyPresent)
    #expect(reasons["baggage"] == .sent)
  }

  @Test func `an existing header that is refused fails the hop and is explained`() async throws {
    let arrived = try await HeaderPlaces.arrived(
      "\"hosts\": [\"*\"], \"existing\": \"refuse\"", headers: ["traceparent": "theirs"], explained: true)
    #expect(arrived.result.error?.code == "header_exists")
    let hop = try #require(arrived.result.explanation?.first)
    #expect(hop.decisions.first { $0.header == "traceparent" }?.reason == .refused)
  }

  @Test func `the reasons include sampling, disabled traces and missing values`() async throws {
    let unsampled = ParentContext(traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-00")
    let sampledOnly = try await Self.reasons("\"hosts\": [\"*\"], \"sampledOnly\": true", parent: unsampled)
    #expect(sampledOnly["traceparent"] == .unsampled)
    #expect(sampledOnly["tracestate"] == .unsampled)
    #expect(sampledOnly["baggage"] == .nothingToSend)
    #expect(sampledOnly["x-request-id"] == .sent)
    let disabled = try await Self.reasons("\"hosts\": [\"*\"], \"disabled\": true", parent: ParentContext())
    #expect(disabled["traceparent"] == .disabled)
    let without = try await Self.reasons("\"hosts\": [\"*\"], \"propagators\": []")
    #expect(without["traceparent"] == .disabled)
    #expect(without["baggage"] == .disabled)
  }

  @Test func `an invalid parent is explained, and a new trace begins`() async throws {
    let invalid = ParentContext(traceparent: "00-00-00-00", tracestate: "a=1", baggage: "=")
    let arrived = try await HeaderPlaces.arrived("\"hosts\": [\"*\"]", parent: invalid, explained: true)
    let hop = try #require(arrived.result.explanation?.first)
    #expect(hop.decisions.first { $0.header == "traceparent" }?.reason == .sent)
    #expect(hop.decisions.first { $0.header == "tracestate" }?.reason == .invalidParent)
    #expect(hop.decisions.first { $0.header == "baggage" }?.reason == .invalidParent)
    #expect(hop.notes.contains { $0.hasPrefix("a trace begins here: traceparent: it has fewer") })
    // The explanation knows that the headers had an invalid tracestate, even though the extraction dropped it.
    let carrier: HeaderFields = ["traceparent": HeaderPlaces.parent.traceparent ?? "", "tracestate": "BAD=1"]
    let reasons = try await Self.reasons(
      "\"hosts\": [\"*\"]", parent: Propagators.standard.extract(from: carrier).parent)
    #expect(reasons["traceparent"] == .sent)
    #expect(reasons["tracestate"] == .invalidParent)
  }

  @Test func `a valid tracestate of which no member remains is not sent`() async throws {
    let parent = ParentContext(traceparent: HeaderPlaces.parent.traceparent, tracestate: "ot=th:8")
    let reasons = try await Self.reasons(
      "\"hosts\": [\"*\"], \"sampler\": {\"type\": \"always_off\"}", parent: parent)
    #expect(reasons["traceparent"] == .sent)
    #expect(reasons["tracestate"] == .nothingToSend)
  }

  @Test func `secrets are hidden, no matter where they are listed`() async throws {
    let text = """
      {"plugins": {"headers": {"builtin": "headers", "config": {"hosts": ["*"], "static": {
         "Authorization": "Bearer secret-1", "X-Api-Key": "secret-2", "X-Own": "secret-3"}}}},
       "issue": ["headers"], "redact": {"headers": ["x-own"]}}
      """
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Configuration(text: Array(text.utf8)))
    var request = Request(url: try HTTPURL(server.baseURL + "/a?sig=secret-4"))
    request.wantsExplanation = true
    let result = await engine.transaction(request)
    await engine.shutdown()
    #expect(server.requests.first?.headers.first("x-own") == "secret-3")
    let explanation = try #require(result.explanation)
    #expect(explanation.first?.decisions.filter { $0.value == "REDACTED" }.count == 3)
    #expect(!"\(explanation)".contains("secret"))
  }

  @Test func `each hop of each attempt has its own explanation, which includes stages that set nothing or did not run`()
    async throws
  {
    let other = try LoopbackServer()
    defer { other.stop() }
    let target = other.baseURL + "/end"
    let server = try LoopbackServer { _ in
      ServerResponse(status: 302, headers: [HeaderLine("Location", target)])
    }
    defer { server.stop() }
    var configuration = try HeaderPlaces.configuration("\"hosts\": [\"127.0.0.1:\(server.port)\"]")
    configuration.addStage("code", StageCode(issue: { request, _ in request.headers["X-Code"] = "1" }))
    configuration.addStage(
      "posts", StageCode(issue: { request, _ in request.headers["X-Posts"] = "1" }),
      match: StageMatch(methods: ["POST"]))
    configuration.addStage(
      "again", StageCode(response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
    let engine = try Engine(configuration)
    var request = Request(url: try HTTPURL(server.baseURL + "/a"))
    request.wantsExplanation = true
    let result = await engine.transaction(request)
    request.wantsExplanation = false
    #expect(await engine.transaction(request).explanation == nil)
    await engine.shutdown()
    let hops = try #require(result.explanation)
    #expect(hops.map(\.attempt) == [0, 0, 1, 1])
    #expect(hops.map(\.hop) == [0, 1, 0, 1])
    #expect(hops.map(\.origin.port) == [server.port, other.port, server.port, other.port])
    let first = hops.map { $0.decisions.first { $0.header == "traceparent" } }
    #expect(first.map { $0?.reason } == [.sent, .hostNotListed, .sent, .hostNotListed])
    for hop in hops {
      #expect(hop.decisions.last == HeaderDecision(stage: "code", header: "X-Code", reason: .sent))
      #expect(hop.notes == ["stage \"posts\" was not called: the request does not satisfy its match"])
    }
  }

  @Test func `headers that request stages set are explained in the first hop of each attempt`() async throws {
    let server = try LoopbackServer { request in
      request.target == "/end"
        ? ServerResponse(status: 200)
        : ServerResponse(status: 302, headers: [HeaderLine("Location", "/end")])
    }
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "late",
      StageCode(request: { request, _ in
        await Task.yield()
        request.headers["X-Late"] = "1"
        request.headers["X-Own"] = "changed"
      }))
    configuration.addStage("silent", StageCode(request: { _, _ in }))
    configuration.addStage(
      "posts", StageCode(request: { request, _ in request.headers["X-Posts"] = "1" }),
      match: StageMatch(methods: ["POST"]))
    configuration.addStage("last", StageCode(request: { request, _ in request.headers["X-Last"] = "1" }))
    configuration.addStage(
      "again", StageCode(response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
    let engine = try Engine(configuration)
    var request = Request(url: try HTTPURL(server.baseURL + "/a"), headers: ["X-Own": "1", "X-Kept": "1"])
    request.wantsExplanation = true
    let result = await engine.transaction(request)
    await engine.shutdown()
    let hops = try #require(result.explanation)
    #expect(hops.map(\.hop) == [0, 1, 0, 1])
    for hop in hops where hop.hop == 0 {
      #expect(hop.decisions.map(\.stage) == ["late", "late", "last"])
      #expect(Set(hop.decisions.map(\.header)) == ["X-Own", "X-Late", "X-Last"])
      #expect(hop.decisions.allSatisfy { $0.reason == .sent })
      #expect(hop.notes == ["stage \"posts\" was not called: the request does not satisfy its match"])
    }
    for hop in hops where hop.hop == 1 { #expect(hop.decisions.isEmpty && hop.notes.isEmpty) }
  }
}
