import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Tests with several stages or several requests.
@Suite struct InterceptorOrderTests: InterceptorScenario {
  @Test func `stages run from first to last, both for the request and for the response`() async throws {
    try await withServer { server, request in
      func stage(_ name: String) -> StageCode {
        StageCode(
          request: { request, _ in try request.headers.add(name, for: "x-request") },
          issue: { request, _ in try request.headers.add(name, for: "x-issue") },
          response: { response, _ in try response.headers.add(name, for: "x-response") })
      }
      let result = try await run(request, stage("one"), stage("two"), stage("three"))
      #expect(result.response?.headers[values: "x-response"] == ["one", "two", "three"])
      let sent = try #require(server.requests.first)
      #expect(sent.headers.values(of: "x-request") == ["one", "two", "three"])
      #expect(sent.headers.values(of: "x-issue") == ["one", "two", "three"])
    }
  }

  @Test func `each stage sees the changes of the previous one`() async throws {
    try await withServer { server, request in
      let double = StageCode(
        request: { request, _ in
          request.body = request.body.map { $0 + $0 }
        }, options: .wantsRequestBody)
      var request = request
      (request.method, request.body) = ("POST", .text("a"))
      _ = try await run(request, double, double, double)
      #expect(server.requests.first?.body == Array("aaaaaaaa".utf8))
    }
  }

  @Test func `a request stage runs once per attempt, an issue stage once per hop, a response stage once per response`()
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

  @Test func `a stage whose match excludes the request is not called`() async throws {
    try await withServer { server, request in
      var configuration = Configuration()
      let match = StageMatch(methods: ["DELETE"])
      configuration.addStage(
        "deletes", StageCode(request: { request, _ in request.headers["x-match"] = "1" }), match: match)
      let engine = try Engine(configuration)
      var other = request
      other.method = "DELETE"
      _ = try await engine.perform(request)
      _ = try await engine.perform(other)
      await engine.shutdown()
      #expect(server.requests.map { $0.value(of: "x-match") } == [nil, "1"])
    }
  }

  @Test func `each of two engines calls only its own stages`() async throws {
    try await withServer { server, request in
      let marked = try Engine(Self.configuration([StageCode(request: { request, _ in request.headers["x-a"] = "1" })]))
      let plain = try Engine(Configuration())
      _ = try await marked.perform(request)
      _ = try await plain.perform(request)
      await marked.shutdown()
      await plain.shutdown()
      #expect(server.requests.map { $0.value(of: "x-a") } == ["1", nil])
    }
  }

  @Test func `if a stage asks for a retry, the caller gets the second response`() async throws {
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

  @Test func `a stage can make another request through the engine that called it`() async throws {
    try await withServer({ .text($0.path == "/token" ? "t0k" : $0.value(of: "x-token") ?? "none") }) {
      server, request in
      let slot = Locked<Engine?>(nil)
      let token = Request(url: try HTTPURL(server.baseURL + "/token"))
      let stage = StageCode(request: { request, context in
        guard context.path != "/token", let engine = slot.withLock({ $0 }) else { return }
        request.headers["x-token"] = Self.text(try await engine.perform(token))
      })
      let engine = try Engine(Self.configuration([stage]) { $0.transport.loops = 1 })
      slot.withLock { $0 = engine }
      // Many such transactions run at the same time on one loop, and no stage blocks the thread that another stage
      // needs.
      let answers = await withTaskGroup { group in
        for _ in 0..<20 { group.addTask { await engine.transaction(request) } }
        return await group.reduce(into: [String?]()) { $0.append(Self.text($1.response)) }
      }
      slot.withLock { $0 = nil }
      await engine.shutdown()
      #expect(answers == Array(repeating: "t0k", count: 20))
    }
  }

  @Test func `stages are called for requests with a completion closure too`() async throws {
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
}
