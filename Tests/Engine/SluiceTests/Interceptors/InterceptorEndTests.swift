import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// Stages that respond, fail, or are slow.
@Suite struct InterceptorEndTests: InterceptorScenario {
  @Test func `a request stage can respond although there is no server`() async throws {
    let result = try await run(
      Request(url: HTTPURL("https://localhost:1/")),
      StageCode(request: { request, _ in
        let response = request.respond(status: 200)
        response.headers["x-by"] = "stage"
        response.body = Array("intercepted".utf8)
      }))
    #expect(result.error == nil)
    #expect(result.response?.headers["x-by"] == "stage")
    #expect(Self.text(result.response) == "intercepted")
  }

  @Test func `a response that a stage makes passes every response stage once, in order`() async throws {
    let log = Locked<[String]>([])
    let result = try await run(
      Request(url: HTTPURL("http://127.0.0.1:1/")),
      StageCode(
        request: { request, _ in request.respond(status: 200) },
        response: { _, _ in log.withLock { $0.append("first") } }),
      StageCode(
        request: { _, _ in log.withLock { $0.append("never") } },
        response: { _, _ in log.withLock { $0.append("second") } }))
    #expect(result.error == nil)
    #expect(log.withLock { $0 } == ["first", "second"])
  }

  @Test func `an issue stage cannot respond: the transaction fails, and nothing is sent`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request, StageCode(issue: { request, _ in request.respond(status: 200) }))
      #expect(result.error?.message.contains("does not let a stage respond here") == true)
      #expect(result.error?.stage == "stage-0")
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `an issue stage cannot ask for a retry`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(issue: { _, _ in throw RetryRequestError() }))
      #expect(result.error?.message.contains("asked for a retry while the request is being sent") == true)
      #expect(result.attempts == 1)
      #expect(server.requests.isEmpty)
    }
  }

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

  @Test func `a response stage's error fails the transaction, and the result keeps the response`() async throws {
    try await withServer { server, request in
      let result = try await run(request, StageCode(response: { _, _ in throw Boom() }))
      #expect(result.error?.code == "stage_failed")
      #expect(result.response?.status == 200)
    }
  }

  @Test func `after an error of a stage, later stages are not called`() async throws {
    try await withServer { server, request in
      let calls = Locked(0)
      let count = StageCode(
        request: { _, _ in calls.withLock { $0 += 1 } }, response: { _, _ in calls.withLock { $0 += 1 } })
      _ = try await run(request, StageCode(request: { _, _ in throw Boom() }), count)
      #expect(calls.withLock { $0 } == 0)
    }
  }

  @Test func `the result has the code of a stage's error, and every request ends once`() async throws {
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

  @Test func `if a stage sets a header that cannot be sent, the error names the stage and the header`() async throws {
    try await withServer { server, request in
      let result = try await run(
        request, StageCode(request: { request, _ in request.headers["x-split"] = "a\r\nInjected: yes" }))
      #expect(result.error?.stage == "stage-0")
      #expect(result.error?.message.contains("x-split") == true)
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `the caller's timeout includes the time in stages`() async throws {
    try await withServer { server, request in
      server.hold()
      defer { server.release() }
      var request = request
      request.timeout = .milliseconds(30)
      let result = try await run(request, StageCode(request: { _, _ in await Task.yield() }))
      #expect(result.error?.code == "deadline")
    }
  }

  @Test func `a request whose response stops in the middle times out`() async throws {
    let done = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"), .wait(done))
    defer { done.set() }
    let result = try await run(
      Request(url: HTTPURL(server.baseURL)), StageCode(response: { _, _ in }),
      change: { $0.transport.timeout = .milliseconds(50) })
    #expect(result.error?.code == "timeout")
  }

  @Test func `if a server does not read a large body, the request times out`() async throws {
    let done = Signal()
    let server = try ScriptedServer(.receiveHead, .wait(done))
    defer { done.set() }
    let request = Request(
      method: "POST", url: try HTTPURL(server.baseURL), body: .bytes([UInt8](repeating: 65, count: 32 << 20)))
    let result = try await run(
      request, StageCode(request: { _, _ in }), change: { $0.transport.timeout = .milliseconds(200) })
    #expect(result.error?.code == "timeout")
  }

  @Test func `if the caller is cancelled, the stage's task is cancelled too, and nothing is sent`() async throws {
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
