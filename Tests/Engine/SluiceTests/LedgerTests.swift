import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestServers
import Testing

/// The ledger for every way in which a transaction can end, over real sockets.
@Suite struct LedgerTests {
  private let log = LedgerLog()

  /// Runs transactions to their ends on an engine with the log and the given configuration, and shuts the engine down.
  private func run(
    _ url: String, count: Int = 1, _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> [TransactionResult] {
    var configuration = Configuration()
    change(&configuration)
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    let request = Request(url: try HTTPURL(url))
    let results = await withTaskGroup { group in
      for _ in 0..<count { group.addTask { await engine.transaction(request) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    await engine.shutdown()
    #expect(log.violation == nil)
    #expect(log.kinds.count { $0 == .willExecute } == count)
    #expect(log.kinds.count { $0 == .didComplete } == count)
    return results
  }

  @Test func `a success has all its events, and three of them have the phases of the hop`() async throws {
    let server = try LoopbackServer { _ in ServerResponse.text(String(repeating: "x", count: 200_000)) }
    defer { server.stop() }
    let result = try #require(try await run(server.baseURL + "/a").first)
    #expect(result.error == nil)
    #expect(
      log.kinds == [
        .willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .didValidateResponse, .didExtract,
        .didValidatePayload, .didComplete,
      ])
    for entry in log.entries {
      #expect((entry.timings != nil) == [.didReceive, .didEndHop, .didComplete].contains(entry.kind))
    }
    let head = try #require(log.first(.didReceive).timings)
    let whole = try #require(log.first(.didComplete).timings)
    #expect(head.connect > .zero)
    #expect(head.wait > .zero)
    #expect(head.bytesSent > 0)
    #expect(head.peerAddress == "127.0.0.1")
    #expect(whole.bytesReceived == 200_000)
    #expect(whole.total >= head.total)
    #expect(whole.connect == head.connect)
    #expect(try log.first(.didComplete).duration == result.duration)
  }

  @Test func `if a stage waits for the body, did_receive has the phases of the whole body`() async throws {
    let server = try LoopbackServer { _ in ServerResponse.text(String(repeating: "x", count: 200_000)) }
    defer { server.stop() }
    _ = try await run(server.baseURL + "/a") {
      $0.addStage("reads", StageCode(response: { _, _ in }, options: .wantsResponseBody))
    }
    #expect(try log.first(.didReceive).timings?.bytesReceived == 200_000)
  }

  @Test func `the ledger is complete if there is no connection`() async throws {
    let results = try await run("http://127.0.0.1:1/", count: 20)
    #expect(results.allSatisfy { $0.error?.code == "connect" })
    #expect(!log.kinds.contains(.didIssue))
    #expect(log.kinds.count { $0 == .didEndHop } == 20)
  }

  @Test func `the ledger is complete if a request stage fails`() async throws {
    let results = try await run("http://127.0.0.1:1/") {
      $0.addStage("fails", StageCode(request: { _, _ in throw StageFailure(code: "no", message: "no") }))
    }
    #expect(results.first?.error?.code == "no")
    #expect(log.kinds == [.willExecute, .didComplete])
  }

  @Test func `if a request stage responds, the ledger lacks only the events of the wire`() async throws {
    let results = try await run("http://127.0.0.1:1/") {
      $0.addStage("answers", StageCode(request: { request, _ in request.respond(status: 200) }))
    }
    #expect(results.first?.error == nil)
    #expect(log.kinds == [.willExecute, .didValidateResponse, .didExtract, .didValidatePayload, .didComplete])
  }

  @Test func `the ledger is complete if a response stage fails`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let results = try await run(server.baseURL + "/a") {
      $0.addStage("fails", StageCode(response: { _, _ in throw StageFailure(code: "late", message: "") }))
    }
    #expect(results.first?.error?.code == "late")
    #expect(log.kinds == [.willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .didComplete])
  }

  @Test func `if an issue stage fails, there is no did_issue`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let results = try await run(server.baseURL + "/a") {
      $0.addStage("fails", StageCode(issue: { _, _ in throw StageFailure(code: "stop", message: "") }))
    }
    #expect(results.first?.error?.code == "stop")
    #expect(log.kinds == [.willExecute, .didConfigure, .didEndHop, .didComplete])
    #expect(try log.first(.didEndHop).errorStage == "fails")
    #expect(server.requests.isEmpty)
  }

  @Test func `the ledger of an invalid request has only its begin and its end`() async throws {
    var configuration = Configuration()
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(method: "NO METHOD", url: HTTPURL("http://127.0.0.1:1/")))
    await engine.shutdown()
    #expect(result.error != nil)
    #expect(log.kinds == [.willExecute, .didComplete])
    #expect(log.violation == nil)
  }

  @Test func `an HTTP error ends without validation`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 503) }
    defer { server.stop() }
    let results = try await run(server.baseURL + "/a", count: 10)
    #expect(results.allSatisfy { $0.error?.code == "http_status" })
    #expect(!log.kinds.contains(.didValidateResponse))
  }

  @Test func `each retry is in the ledger with the phases of its own hop`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let results = try await run(server.baseURL + "/a") {
      $0.addStage(
        "again",
        StageCode(response: { _, context in
          if context.attemptNumber < 2 { throw RetryRequestError(after: .milliseconds(2)) }
        }))
    }
    #expect(results.first?.attempts == 3)
    #expect(log.kinds.count { $0 == .willRetry } == 2)
    #expect(log.entries.filter { $0.kind == .didIssue }.map(\.attempt) == [0, 1, 2])
    #expect(log.entries.filter { $0.kind == .didReceive }.allSatisfy { $0.timings != nil })
  }

  @Test func `each hop of a redirect is in the ledger, even one whose target is not reachable`() async throws {
    let server = try LoopbackServer { request in
      switch request.target {
      case "/first": ServerResponse(status: 302, headers: [HeaderLine("location", "/second")])
      case "/second": ServerResponse(status: 307, headers: [HeaderLine("location", "/third")])
      case "/nowhere": ServerResponse(status: 302, headers: [HeaderLine("location", "http://127.0.0.1:1/")])
      default: ServerResponse(status: 200)
      }
    }
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/first")))
    let lost = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/nowhere")))
    await engine.shutdown()
    #expect(log.violation == nil)
    #expect(result.finalURL?.path == "/third")
    #expect(result.originalRequest.url.path == "/first")
    #expect(lost.error?.code == "connect")
    #expect(log.entries.filter { $0.kind == .didIssue }.map(\.hop) == [0, 1, 2, 0])
    #expect(log.kinds.count { $0 == .willRedirect } == 3)
    #expect(log.entries.filter { $0.kind == .didReceive }.allSatisfy { $0.timings != nil })
  }

  @Test func `retries by the engine's policy are in the ledger with their delays`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 503) }
    defer { server.stop() }
    let text = #"{"retry": {"maxAttempts": 3, "statuses": [503], "backoff": {"base": "2ms", "max": "4ms"}}}"#
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let result = await engine.transaction(request)
    await engine.shutdown()
    #expect(log.violation == nil)
    #expect(result.attempts == 3)
    #expect(log.entries.filter { $0.kind == .didIssue }.map(\.attempt) == [0, 1, 2])
  }

  @Test func `an invalid payload ends the transaction before did_validate_payload`() async throws {
    let server = try LoopbackServer { _ in ServerResponse.text("{no", type: "application/json") }
    defer { server.stop() }
    let text = #"{"validate": {"extract": "json"}}"#
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let result = await engine.transaction(request)
    await engine.shutdown()
    #expect(result.error != nil)
    #expect(log.violation == nil)
    #expect(log.kinds.suffix(2) == [.didValidateResponse, .didComplete])
  }

  @Test func `an attempt that times out has its timings in did_complete`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let results = try await run(server.baseURL + "/a") { $0.transport.timeout = .milliseconds(50) }
    server.release()
    #expect(results.first?.error?.code == "timeout")
    #expect(log.kinds == [.willExecute, .didConfigure, .didIssue, .didEndHop, .didComplete])
    #expect(try log.first(.didComplete).timings?.connect ?? .zero > .zero)
  }

  @Test func `a deadline and a cancellation end the ledger in the middle of a hop`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    var configuration = Configuration()
    configuration.transport.timeout = .seconds(3600)
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    var request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let cancelled = Task { [request] in await engine.transaction(request) }
    try await server.waitForHeld(1)
    cancelled.cancel()
    #expect(await cancelled.value.outcome == .cancelled)
    request.timeout = .milliseconds(50)
    let late = await engine.transaction(request)
    #expect(late.error?.code == "deadline")
    server.release()
    await engine.shutdown()
    #expect(log.violation == nil)
    #expect(log.entries.compactMap(\.outcome) == [.cancelled, .failed])
    #expect(log.entries.filter { $0.kind == .didComplete }.allSatisfy { $0.timings != nil })
  }

  @Test func `a shutdown ends transactions in flight, and refuses later ones without an event`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    var configuration = Configuration()
    // The held requests must not time out by themselves, even on a busy machine.
    configuration.deadline = nil
    configuration.transport.timeout = .seconds(3600)
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let results = ResultLog()
    for _ in 0..<5 { engine.submit(request) { results.append($0) } }
    try await server.waitForHeld(5)
    await engine.shutdown(drain: .zero)
    engine.submit(request) { results.append($0) }
    server.release()
    #expect(results.codes == Array(repeating: "shutdown", count: 6))
    #expect(log.kinds.count { $0 == .willExecute } == 5)
    #expect(log.violation == nil)
  }
}
