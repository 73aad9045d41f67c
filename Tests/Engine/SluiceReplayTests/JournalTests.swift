import Sluice
import SluicePlugin
import SluicePipeline
import SluiceReplay
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// The journal in a result: what each stage did in the transaction, if the request asked for it.
@Suite struct JournalTests {
  private static func journal(
    _ configuration: Configuration, _ request: Request
  ) async throws -> (calls: [StageCall], result: TransactionResult) {
    let engine = try Engine(configuration)
    var request = request
    request.wantsJournal = true
    let result = await engine.transaction(request)
    await engine.shutdown()
    return (try #require(result.journal), result)
  }

  private static func configuration(_ stages: StageCode...) -> Configuration {
    var configuration = Configuration()
    for (number, stage) in stages.enumerated() { configuration.addStage("s\(number)", stage) }
    return configuration
  }

  static func configuration(_ library: String, _ more: String = "") throws -> Configuration {
    let text = """
      {"plugins": {"a": {"library": "\(library)"}}, "request": ["a"], "issue": ["a"], "response": ["a"]\(more)}
      """
    return try Configuration(text: Array(text.utf8))
  }

  @Test func `the result of a request that does not ask for a journal has none`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(Self.configuration(StageCode(request: { request, _ in request.headers["x"] = "1" })))
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL)))
    await engine.shutdown()
    #expect(result.error == nil && result.journal == nil && result.recording == nil)
  }

  @Test func `the journal has each call of a plugin in C, over a real socket`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("differs-by-build")
    defer { withExtendedLifetime(product) {} }
    let (calls, _) = try await Self.journal(
      Self.configuration(product.path), Request(url: HTTPURL(server.baseURL + "/a"), headers: ["x-late": "1"]))
    #expect(calls.map(\.callback) == [.request, .issue, .response])
    #expect(calls.allSatisfy { $0.stage == "a" && $0.verdict == .proceed && $0.attempt == 0 && $0.hop == 0 })
    #expect(calls.map(\.wasSuspended) == [true, false, false])
    let request = try #require(calls.first)
    #expect(request.changes.first == StageChange(.request, .header("x-build"), before: [], after: ["1"]))
    // The secret header is hidden, but the mark in its place differs for different secrets.
    let secret = try #require(request.changes.last)
    #expect(secret.part == .header("x-api-key"))
    #expect(secret.after.first?.hasPrefix("REDACTED [") == true)
    #expect(!"\(calls)".contains("Bearer one"))
    #expect(calls.dropFirst().first?.changes.map(\.part) == [.header("x-hop")])
    #expect(calls.last?.changes == [StageChange(.response, .header("x-build"), before: [], after: ["1"])])
  }

  @Test func `the journal has each call of a plugin in Swift`() async throws {
    let server = try LoopbackServer { request in
      ServerResponse(headers: [HeaderLine("x-echo", request.headers.first("x-stamp") ?? "")])
    }
    defer { server.stop() }
    let text = """
      {"plugins": {"a": {"library": "\(BuiltProducts.library("swift-stamps"))", "config": {"header": "x-stamp"}}},
       "request": ["a"], "response": ["a"]}
      """
    let (calls, result) = try await Self.journal(
      Configuration(text: Array(text.utf8)), Request(url: HTTPURL(server.baseURL + "/a")))
    #expect(result.error == nil)
    #expect(calls.map(\.callback) == [.request, .response])
    let sent = StageChange(.request, .header("x-stamp"), before: [], after: ["0"])
    let received = StageChange(.response, .header("x-stamp"), before: ["0"], after: ["0"])
    #expect(calls.first?.changes == [sent])
    #expect(calls.last?.changes.map(\.after) == [received.after])
  }

  @Test func `the journal shows the changes that a plugin makes in a document`() async throws {
    let server = try LoopbackServer { _ in
      ServerResponse(
        headers: [HeaderLine("content-type", "application/json")], body: .bytes(Array("{\"secret\": 1}".utf8)))
    }
    defer { server.stop() }
    let text = """
      {"plugins": {"edit": {"library": "\(BuiltProducts.library("json-edit"))", "config": {
        "request": [{"op": "set", "path": "/tenant", "value": "a"}],
        "response": [{"op": "remove", "path": "/secret"}]}}}, "request": ["edit"], "response": ["edit"]}
      """
    let (calls, result) = try await Self.journal(
      Configuration(text: Array(text.utf8)),
      Request(
        method: "POST", url: HTTPURL(server.baseURL + "/"), headers: ["content-type": "application/json"],
        body: .text("{\"name\":\"x\"}")))
    #expect(result.error == nil)
    let sent = StageChange(
      .request, .body, before: [#""{"name":"x"}""#], after: [#""{"name":"x","tenant":"a"}""#])
    let received = StageChange(.response, .body, before: [#""{"secret": 1}""#], after: [#""{}""#])
    // The host renews the length of a body that a stage has changed.
    let length = StageChange(.response, .header("content-length"), before: ["13"], after: ["2"])
    #expect(calls.map(\.changes) == [[sent], [length, received]])
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [#"{"name":"x","tenant":"a"}"#])
  }

  @Test func `the journal has the verdicts retry and fail`() async throws {
    let server = try LoopbackServer { ServerResponse(status: $0.path == "/busy" ? 503 : 200) }
    defer { server.stop() }
    let stages = StageCode(
      request: { request, _ in if request.headers["x-no"] != nil { throw Boom() } },
      response: { response, context in
        if response.status == 503, context.attemptNumber == 0 { throw RetryRequestError() }
      })
    let busy = try await Self.journal(Self.configuration(stages), Request(url: HTTPURL(server.baseURL + "/busy")))
    #expect(busy.calls.map(\.attempt) == [0, 0, 1, 1])
    guard case .retry = busy.calls.dropFirst().first?.verdict else {
      Issue.record("no retry: \(busy.calls)")
      return
    }
    let refused = try await Self.journal(
      Self.configuration(stages), Request(url: HTTPURL(server.baseURL + "/"), headers: ["x-no": "1"]))
    guard case .fail(let failure) = refused.calls.first?.verdict else {
      Issue.record("no failure: \(refused.calls)")
      return
    }
    #expect(failure.message.contains("boom"))
  }

  @Test func `the journal has the calls of each hop, with redirects and challenges`() async throws {
    let server = try LoopbackServer { request in
      if request.path == "/start" { return ServerResponse(status: 302, headers: [HeaderLine("Location", "/end")]) }
      guard request.headers.first("authorization") == nil else { return .text("ok") }
      return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Bearer realm=\"a\"")])
    }
    defer { server.stop() }
    let product = try await PluginCompiler.compile("differs-by-build")
    defer { withExtendedLifetime(product) {} }
    let (calls, result) = try await Self.journal(
      Self.configuration(product.path), Request(url: HTTPURL(server.baseURL + "/start")))
    #expect(result.response?.status == 200)
    let order = calls.map { "\($0.hop) \($0.callback.rawValue)" }
    #expect(
      order == [
        "0 on_request", "0 on_issue", "0 on_redirect", "1 on_issue", "1 on_challenge", "2 on_issue", "2 on_response",
      ])
    let challenge = try #require(calls.first { $0.callback == .challenge })
    #expect(challenge.verdict == .respond && challenge.changes.map(\.part) == [.header("authorization")])
  }

  @Test func `all pieces of a body are one entry of the journal`() async throws {
    let server = try LoopbackServer { _ in .text(String(repeating: "abc", count: 100_000)) }
    defer { server.stop() }
    let product = try await PluginCompiler.compile("changes-pieces")
    defer { withExtendedLifetime(product) {} }
    let text = "{\"plugins\": {\"a\": {\"library\": \"\(product.path)\"}}, \"response\": [\"a\"]}"
    let (calls, result) = try await Self.journal(
      Configuration(text: Array(text.utf8)), Request(url: HTTPURL(server.baseURL + "/")))
    #expect(result.error == nil)
    let flow = try #require(calls.last)
    #expect(flow.callback == .responseBody)
    let change = try #require(flow.changes.first)
    #expect(change.before.first?.hasPrefix("300000 bytes, hash ") == true)
    #expect(change.after.first?.hasPrefix("300001 bytes, hash ") == true)
  }

  @Test func `the journal shows a suspended call that never resumes as a fault with the code stage_timeout`()
    async throws
  {
    var configuration = Self.configuration(
      StageCode(request: { _, _ in try await untilCancelled() }))
    for index in configuration.plugins.indices { configuration.plugins[index].deadline = .milliseconds(20) }
    let (calls, _) = try await Self.journal(configuration, Request(url: HTTPURL("http://127.0.0.1:1/")))
    guard case .fault(let failure) = calls.first?.verdict else {
      Issue.record("no fault: \(calls)")
      return
    }
    #expect(failure.code == "stage_timeout" && calls.first?.wasSuspended == true)
  }

  @Test func `the journal has the changes that a BLOCKING stage makes on another thread`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile(
      source: """
        #include <sluice/sluice.h>
        static sluice_verdict on_request(void *instance, sluice_exchange *exchange) {
          sluice_set_request_header(instance, exchange, "x-blocking", "yes");
          return SLUICE_VERDICT_CONTINUE;
        }
        static const sluice_interceptor table =
            SLUICE_TABLE(sluice_interceptor, .flags = SLUICE_FLAG_BLOCKING, .on_request = on_request);
        SLUICE_EXTENSIONS(extension, {SLUICE_INTERCEPTOR_ID, &table});
        SLUICE_PLUGIN("blocks", "1.0.0", .summary = "A fixture.", SLUICE_UNCONFIGURED, .extension = extension);
        """, name: "blocks")
    defer { withExtendedLifetime(product) {} }
    let text = "{\"plugins\": {\"a\": {\"library\": \"\(product.path)\"}}, \"request\": [\"a\"]}"
    let (calls, result) = try await Self.journal(
      Configuration(text: Array(text.utf8)), Request(url: HTTPURL(server.baseURL + "/")))
    #expect(result.error == nil && calls.map(\.wasSuspended) == [true] && calls.map(\.verdict) == [.proceed])
    #expect(calls.first?.changes == [StageChange(.request, .header("x-blocking"), before: [], after: ["yes"])])
  }

  @Test func `a journal can be written as text`() {
    let call = StageCall(
      stage: "a", callback: .response, verdict: .respond, wasSuspended: true,
      changes: [
        StageChange(.response, .header("x"), before: ["1", "2"], after: []),
        StageChange(.response, .body, before: [], after: ["\"a\nb\""]),
      ])
    #expect(
      call.text == """
        a, on_response: respond, by a resumption
          response header x: 1 | 2 → none
          response body: none → "a\\nb"
        """)
    let second = StageCall(attempt: 1, stage: "a", callback: .issue)
    #expect(second.text == "a, on_issue (attempt 2, hop 1): continue")
  }

  @Test func `a journal is the same after it was written as JSON and read back`() async throws {
    let calls = [
      StageCall(
        attempt: 1, hop: 2, stage: "s", callback: .challenge, verdict: .retry(after: .milliseconds(5)),
        wasSuspended: true,
        changes: [
          StageChange(.request, .header("x"), before: ["1", "2"], after: []),
          StageChange(.response, .trailer("t"), before: [], after: ["ü\u{0}"]),
          StageChange(.response, .body, before: [], after: ["9 bytes"]),
          StageChange(.request, .url, before: ["u"], after: ["v"]),
          StageChange(.request, .method, before: ["u"], after: ["v"]),
          StageChange(.response, .status, before: ["1"], after: ["2"]),
        ]),
      StageCall(stage: "s", callback: .requestBody, verdict: .fail(StageFailure(code: "c", message: "m"))),
    ]
    let texts = try calls.map { try $0.document.serialized() }
    let read = try texts.compactMap { StageCall(try JSONValue(parsing: $0, options: .allowNUL)) }
    #expect(read == calls)
    #expect(StageCall([:]) == nil && StageCall("text") == nil)
  }

  @Test(arguments: [-1, 1_000_001, Int64.max])
  func `a JSON call with an impossible attempt or hop is refused`(_ number: Int64) {
    for key in ["attempt", "hop"] {
      let document = StageCall(stage: "s", callback: .issue).document
      document[key] = JSONValue(number)
      #expect(StageCall(document) == nil)
    }
  }

  private struct Boom: Error, CustomStringConvertible { let description = "boom!" }
}
