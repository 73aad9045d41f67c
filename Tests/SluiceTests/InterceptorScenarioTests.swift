import Sluice
import SluiceLocks
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import Testing

/// What people of other HTTP clients expect of interceptors: the request and response stages are what they call application
/// interceptors, the issue stages are their network interceptors.
@Suite struct InterceptorScenarioTests {
  private struct Boom: Error, CustomStringConvertible { let description = "boom!" }

  /// One request through stages in that order.
  private func run(
    _ request: Request, _ stages: StageCode..., change: (inout Configuration) -> Void = { _ in }
  ) async throws -> TransactionResult {
    let engine = try Engine(Self.configuration(stages, change))
    let result = await engine.transaction(request)
    await engine.shutdown()
    return result
  }

  private static func configuration(
    _ stages: [StageCode], _ change: (inout Configuration) -> Void = { _ in }
  ) -> Configuration {
    var configuration = Configuration()
    for (number, stage) in stages.enumerated() { configuration.append(stage, named: "stage-\(number)") }
    change(&configuration)
    return configuration
  }

  private func withServer(
    _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse = { _ in .text("abc") },
    _ body: (LoopbackServer, Request) async throws -> Void
  ) async throws {
    let server = try LoopbackServer { handler($0) }
    defer { server.stop() }
    try await body(server, Request(url: HTTPURL(server.baseURL + "/a")))
  }

  private static func text(_ response: Response?) -> String? {
    response?.body.bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  private static func text(_ body: Body) -> String { String(decoding: body.bytes ?? [], as: UTF8.self) }

  // Answering without the wire.

  @Test func `a request stage answers although nobody listens`() async throws {
    let answer = Response(status: 200, headers: ["x-by": "stage"], body: .text("intercepted"))
    let result = try await run(
      Request(url: HTTPURL("https://localhost:1/")), StageCode(request: { _, _ in throw ResponseOverride(answer) }))
    #expect(result.error == nil)
    #expect(result.response?.headers["x-by"] == "stage")
    #expect(Self.text(result.response) == "intercepted")
  }

  @Test func `an answer of a stage passes every response stage once, in order`() async throws {
    let log = Locked<[String]>([])
    let result = try await run(
      Request(url: HTTPURL("http://127.0.0.1:1/")),
      StageCode(
        request: { _, _ in throw ResponseOverride(Response(status: 200)) },
        response: { _, _ in log.withLock { $0.append("first") } }),
      StageCode(
        request: { _, _ in log.withLock { $0.append("never") } },
        response: { _, _ in log.withLock { $0.append("second") } }))
    #expect(result.error == nil)
    #expect(log.withLock { $0 } == ["first", "second"])
  }

  @Test func `an issue stage cannot answer, and nothing is sent`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request, StageCode(issue: { _, _ in throw ResponseOverride(Response(status: 200)) }))
      #expect(result.error?.code == "stage_fault")
      #expect(result.error?.stage == "stage-0")
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `an issue stage cannot ask for another attempt`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(issue: { _, _ in throw RetryRequestError() }))
      #expect(result.error?.code == "stage_fault")
      #expect(result.attempts == 1)
      #expect(server.requests.isEmpty)
    }
  }

  // What each window sees and may change.

  @Test func `an issue stage cannot change how the message is framed`() async throws {
    try await withServer { server, request in
      var request = request
      (request.method, request.body) = ("POST", .text("12345"))
      let result = try await run(
        request,
        StageCode(issue: { headers, _ in
          headers["Content-Length"] = "3"
          headers["Transfer-Encoding"] = "chunked"
        }))
      #expect(result.error == nil)
      let sent = try #require(server.requests.first)
      #expect(sent.body == Array("12345".utf8))
      #expect(sent.value(of: "content-length") == "5")
      #expect(sent.value(of: "transfer-encoding") == nil)
    }
  }

  @Test func `an issue stage sees what request stages have set`() async throws {
    try await withServer { server, request in
      let seen = Locked<String?>(nil)
      _ = try await run(
        request, StageCode(request: { request, _ in request.headers["x-early"] = "1" }),
        StageCode(issue: { headers, _ in seen.withLock { $0 = headers["x-early"] } }))
      #expect(seen.withLock { $0 } == "1")
    }
  }

  @Test func `what an issue stage sets reaches the server and no later attempt`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request,
        StageCode(
          issue: { headers, context in
            if context.attemptNumber == 0 { headers["x-hop"] = "first" }
          }, response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
      #expect(result.error == nil)
      #expect(server.requests.map { $0.value(of: "x-hop") } == ["first", nil])
    }
  }

  @Test func `the request that comes back is the caller's, the one that was issued stands beside it`() async throws {
    try await withServer { server, request in
      var request = request
      request.headers["User-Agent"] = "user request"
      let result = try await run(
        request, StageCode(issue: { headers, _ in headers["User-Agent"] = "intercepted request" }))
      #expect(result.originalRequest.headers["User-Agent"] == "user request")
      #expect(result.issuedRequest?.headers["User-Agent"] == "intercepted request")
      #expect(server.requests.first?.value(of: "user-agent") == "intercepted request")
    }
  }

  @Test func `a response stage sees content as it was meant, not as it was coded`() async throws {
    let nginx = try await NginxServer.start()
    let seen = Locked<[String]>([])
    let result = try await run(
      Request(url: HTTPURL(nginx.baseURL + "/gzip"), headers: ["Accept-Encoding": "gzip"]),
      StageCode(response: { response, _ in
        let text = Self.text(response) ?? ""
        seen.withLock { $0.append(String(text.prefix(15))) }
      }))
    #expect(result.error == nil)
    #expect(seen.withLock { $0 } == ["sixteen letters"])
  }

  @Test func `a request stage makes a POST of a GET`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request,
        StageCode(request: { request, _ in
          request.method = "POST"
          request.headers["content-type"] = "text/plain"
          request.body = .text("abc")
        }))
      #expect(result.error == nil)
      let sent = try #require(server.requests.first)
      #expect(sent.method == "POST")
      #expect(sent.body == Array("abc".utf8))
      #expect(sent.value(of: "content-length") == "3")
    }
  }

  @Test func `a request stage rewrites method, headers and body`() async throws {
    try await withServer { server, request in
      var request = request
      request.method = "PUT"
      request.headers["original-header"] = "foo"
      request.body = .text("abc")
      _ = try await run(
        request,
        StageCode(request: { request, _ in
          request.method = "POST"
          request.headers["x-intercepted"] = "yep"
          request.body = .text(Self.text(request.body).uppercased())
        }))
      let sent = try #require(server.requests.first)
      #expect(sent.method == "POST")
      #expect(sent.body == Array("ABC".utf8))
      #expect(sent.value(of: "original-header") == "foo")
      #expect(sent.value(of: "x-intercepted") == "yep")
    }
  }

  @Test func `a request stage sends the request elsewhere`() async throws {
    try await withServer { server, request in
      let other = try LoopbackServer()
      defer { other.stop() }
      let url = try HTTPURL(other.baseURL + "/there")
      let result = try await run(request, StageCode(request: { request, _ in request.url = url }))
      #expect(result.error == nil)
      #expect(server.requests.isEmpty)
      #expect(other.requests.map(\.path) == ["/there"])
    }
  }

  @Test func `a request stage takes a header away`() async throws {
    try await withServer { server, request in
      var request = request
      request.headers["x-secret"] = "1"
      _ = try await run(request, StageCode(request: { request, _ in request.headers["x-secret"] = nil }))
      #expect(server.requests.first?.value(of: "x-secret") == nil)
    }
  }

  @Test func `a response stage rewrites headers and body`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request,
        StageCode(response: { response, _ in
          response.headers["x-intercepted"] = "yep"
          response.body = .text(Self.text(response.body).uppercased())
        }))
      #expect(Self.text(result.response) == "ABC")
      #expect(result.response?.headers["x-intercepted"] == "yep")
      #expect(result.response?.headers["content-type"]?.hasPrefix("text/plain") == true)
    }
  }

  @Test func `a response stage takes the body away`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(response: { response, _ in response.body = .empty }))
      #expect(result.error == nil)
      #expect(result.response?.body.isEmpty == true)
    }
  }

  @Test func `a response stage makes a success of an error`() async throws {
    try await withServer({ _ in ServerResponse(status: 500) }) { server, request in
      let result = try await run(request, StageCode(response: { response, _ in response.status = 200 }))
      #expect(result.error == nil)
    }
  }

  @Test func `a response without a body has none, and the stage is called`() async throws {
    try await withServer({ _ in ServerResponse(status: 204) }) { server, request in
      let calls = Locked(0)
      let result = try await run(request, StageCode(response: { _, _ in calls.withLock { $0 += 1 } }))
      #expect(result.error == nil)
      #expect(result.response?.body.isEmpty == true)
      #expect(calls.withLock { $0 } == 1)
    }
  }

  // Several stages.

  @Test func `D6: stages run first to last, on the way out and on the way back`() async throws {
    try await withServer { server, request in
      func stage(_ name: String) -> StageCode {
        StageCode(
          request: { request, _ in request.headers.append("x-request", name) },
          issue: { headers, _ in headers.append("x-issue", name) },
          response: { response, _ in response.headers.append("x-response", name) })
      }
      let result = try await run(request, stage("one"), stage("two"), stage("three"))
      #expect(result.response?.headers[values: "x-response"] == ["one", "two", "three"])
      let sent = try #require(server.requests.first)
      #expect(sent.headers.values(of: "x-request") == ["one", "two", "three"])
      #expect(sent.headers.values(of: "x-issue") == ["one", "two", "three"])
    }
  }

  @Test func `each stage sees what the one before it left`() async throws {
    try await withServer { server, request in
      let double = StageCode(request: { request, _ in
        request.body = .text(Self.text(request.body) + Self.text(request.body))
      })
      var request = request
      (request.method, request.body) = ("POST", .text("a"))
      _ = try await run(request, double, double, double)
      #expect(server.requests.first?.body == Array("aaaaaaaa".utf8))
    }
  }

  @Test func `a request stage runs once an attempt, an issue stage once a hop, a response stage once an answer`()
    async throws
  {
    try await withServer { server, request in
      let log = Locked<[String]>([])
      @Sendable func note(_ text: String) { log.withLock { $0.append(text) } }
      let result = try await run(
        request,
        StageCode(
          request: { _, context in note("request \(context.attemptNumber)") },
          issue: { _, context in note("issue \(context.attemptNumber)") },
          response: { _, context in
            note("response \(context.attemptNumber)")
            if context.attemptNumber < 2 { throw RetryRequestError() }
          }))
      #expect(result.attempts == 3)
      #expect(log.withLock { $0 } == (0..<3).flatMap { ["request \($0)", "issue \($0)", "response \($0)"] })
    }
  }

  @Test func `a stage for other requests is not called`() async throws {
    try await withServer { server, request in
      var configuration = Configuration()
      let match = StageMatch(methods: ["DELETE"])
      configuration.append(
        StageCode(request: { request, _ in request.headers["x-match"] = "1" }), named: "deletes", match: match)
      let engine = try Engine(configuration)
      var other = request
      other.method = "DELETE"
      _ = try await engine.execute(request)
      _ = try await engine.execute(other)
      await engine.shutdown()
      #expect(server.requests.map { $0.value(of: "x-match") } == [nil, "1"])
    }
  }

  @Test func `two engines have stages of their own`() async throws {
    try await withServer { server, request in
      let marked = try Engine(Self.configuration([StageCode(request: { request, _ in request.headers["x-a"] = "1" })]))
      let plain = try Engine(Configuration())
      _ = try await marked.execute(request)
      _ = try await plain.execute(request)
      await marked.shutdown()
      await plain.shutdown()
      #expect(server.requests.map { $0.value(of: "x-a") } == ["1", nil])
    }
  }

  // More than one request.

  @Test func `D3: a stage asks for another attempt and the caller gets the second answer`() async throws {
    let count = Locked(0)
    try await withServer({ _ in
      .text(
        count.withLock {
          $0 += 1; return $0
        } == 1 ? "a" : "b")
    }) { server, request in
      let result = try await run(
        request, StageCode(response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
      #expect(Self.text(result.response) == "b")
      #expect(server.requestCount == 2)
    }
  }

  @Test func `a stage makes an unrelated request through the engine that called it`() async throws {
    try await withServer({ .text($0.path == "/token" ? "t0k" : $0.value(of: "x-token") ?? "none") }) {
      server, request in
      let slot = Locked<Engine?>(nil)
      let token = Request(url: try HTTPURL(server.baseURL + "/token"))
      let stage = StageCode(request: { request, context in
        guard context.path != "/token", let engine = slot.withLock({ $0 }) else { return }
        request.headers["x-token"] = Self.text(try await engine.execute(token))
      })
      let engine = try Engine(Self.configuration([stage]) { $0.transport.loops = 1 })
      slot.withLock { $0 = engine }
      // Many at once on one loop: none waits for the thread that another one needs.
      let answers = await withTaskGroup { group in
        for _ in 0..<20 { group.addTask { await engine.transaction(request) } }
        return await group.reduce(into: [String?]()) { $0.append(Self.text($1.response)) }
      }
      slot.withLock { $0 = nil }
      await engine.shutdown()
      #expect(answers == Array(repeating: "t0k", count: 20))
    }
  }

  @Test func `stages are called for requests whose end is told to a closure, too`() async throws {
    try await withServer { server, request in
      let stage = StageCode(response: { response, _ in response.headers["x-intercepted"] = "yep" })
      let engine = try Engine(Self.configuration([stage]))
      let ends = Watched<[String?]>([])
      engine.submit(request) { result in ends.update { $0.append(result.response?.headers["x-intercepted"]) } }
      #expect(try await ends.wait(for: "the end") { !$0.isEmpty } == ["yep"])
      await engine.shutdown()
      #expect(ends.value.count == 1)
    }
  }

  // Failures.

  @Test func `an error that a request stage throws fails the transaction, and nothing is sent`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(request: { _, _ in throw Boom() }))
      #expect(result.error?.code == "stage_failed")
      #expect(result.error?.message.contains("boom!") == true)
      #expect(result.error?.stage == "stage-0")
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `an error that an issue stage throws fails the transaction, and nothing is sent`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(issue: { _, _ in throw Boom() }))
      #expect(result.error?.code == "stage_failed")
      #expect(result.error?.message.contains("boom!") == true)
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `an error that a response stage throws fails the transaction, and the response stays`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(response: { _, _ in throw Boom() }))
      #expect(result.error?.code == "stage_failed")
      #expect(result.response?.status == 200)
    }
  }

  @Test func `an error ends the list: stages behind it are not called`() async throws {
    try await withServer { server, request in
      let calls = Locked(0)
      let count = StageCode(
        request: { _, _ in calls.withLock { $0 += 1 } }, response: { _, _ in calls.withLock { $0 += 1 } })
      _ = try await run(request, StageCode(request: { _, _ in throw Boom() }), count)
      #expect(calls.withLock { $0 } == 0)
    }
  }

  @Test func `an error with a code keeps it, and ends every request once`() async throws {
    try await withServer { server, request in
      let stage = StageCode(request: { _, _ in
        await Task.yield()
        throw StageFailure(code: "quota", message: "used up")
      })
      let engine = try Engine(Self.configuration([stage]))
      let ends = ResultLog()
      for _ in 0..<50 { engine.submit(request) { ends.append($0) } }
      await engine.shutdown()
      #expect(ends.codes == Array(repeating: "quota", count: 50))
    }
  }

  @Test func `a header that cannot be sent is refused with the name of the stage`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request, StageCode(request: { request, _ in request.headers["x-split"] = "a\r\nInjected: yes" }))
      #expect(result.error?.stage == "stage-0")
      #expect(result.error?.message.contains("x-split") == true)
      #expect(server.requests.isEmpty)
    }
  }

  // Time, and giving up.

  @Test func `a timeout that the caller gives holds through the stages`() async throws {
    try await withServer { server, request in
      server.hold()
      defer { server.release() }
      var request = request
      request.timeout = .milliseconds(30)
      let result = try await run(request, StageCode(request: { _, _ in await Task.yield() }))
      #expect(result.error?.code == "deadline")
    }
  }

  @Test func `a server that stops in the middle of its answer is given up in time`() async throws {
    let done = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), .wait(done))
    defer { done.set() }
    let result = try await run(
      Request(url: HTTPURL(server.baseURL)), StageCode(response: { _, _ in }),
      change: { $0.transport.timeout = .milliseconds(50) })
    #expect(result.error?.code == "timeout")
  }

  @Test func `a server that reads nothing of a large body is given up in time`() async throws {
    let done = Signal()
    let server = try ScriptedServer(.receiveHead, .wait(done))
    defer { done.set() }
    let request = Request(
      method: "POST", url: try HTTPURL(server.baseURL), body: .bytes([UInt8](repeating: 65, count: 32 << 20)))
    let result = try await run(
      request, StageCode(request: { _, _ in }), change: { $0.transport.timeout = .milliseconds(200) })
    #expect(result.error?.code == "timeout")
  }

  @Test func `B3: a stage's task is cancelled with its caller, and nothing is sent`() async throws {
    try await withServer { server, request in
      let isInside = Signal()
      let wasCancelled = Signal()
      let stage = StageCode(request: { _, _ in
        isInside.set()
        await withTaskCancellationHandler {
          try? await wasCancelled.wait()
        } onCancel: {
          wasCancelled.set()
        }
      })
      let engine = try Engine(Self.configuration([stage]))
      let task = Task { await engine.transaction(request) }
      try await isInside.wait()
      task.cancel()
      #expect(await task.value.outcome == .cancelled)
      #expect(wasCancelled.waitBlocking())
      await engine.shutdown()
      #expect(server.requests.isEmpty)
    }
  }
}
