import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestServers
import Testing

/// The engine with stages that are closures of the program, against a real server.
@Suite struct EngineTests {
  @Test func `Swift closures change the request in the order in which they were added`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage("first", StageCode(request: { request, _ in request.headers["x-order"] = "first" }))
    configuration.addStage(
      "second",
      StageCode(request: { request, context in
        request.headers["x-order"] = (request.headers["x-order"] ?? "") + ",second"
        request.headers["x-attempt"] = String(context.attemptNumber)
      }))
    let engine = try Engine(configuration)
    let response = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    #expect(response.status == 200)
    #expect(server.requests.first?.headers.first { $0.name.lowercased() == "x-order" }?.value == "first,second")
    await engine.shutdown()
  }

  @Test func `a stage that waits is resumed, and the server gets its changes`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "late",
      StageCode(request: { request, _ in
        await Task.detached {}.value
        await Task.yield()
        request.headers["x-late"] = "yes"
      }))
    let engine = try Engine(configuration)
    let response = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    #expect(response.status == 200)
    #expect(server.requests.first?.headers.contains { $0.name.lowercased() == "x-late" } == true)
    await engine.shutdown()
  }

  @Test func `a response closure sees status and duration and changes the response`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "seen",
      StageCode(response: { response, context in
        response.headers["x-seen"] = "\(response.status) \(context.duration > .zero)"
      }))
    let engine = try Engine(configuration)
    let response = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    #expect(response.headers["x-seen"] == "200 true")
    await engine.shutdown()
  }

  @Test func `throwing RetryRequestError runs the request stages again`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "again",
      StageCode(
        request: { request, context in request.headers["x-attempt"] = String(context.attemptNumber) },
        response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
    let engine = try Engine(configuration)
    let result = try await engine.transaction(Request(url: HTTPURL(server.baseURL + "/a")))
    #expect(result.error == nil)
    #expect(result.attempts == 2)
    #expect(server.requests.map { $0.headers.first { $0.name.lowercased() == "x-attempt" }?.value } == ["0", "1"])
    await engine.shutdown()
  }

  @Test func `every transaction has one willExecute and one didComplete, even if it fails`() async throws {
    let events = EventLog()
    var configuration = Configuration()
    configuration.addStage("trace", StageCode(observing: { events.append($0.kind) }))
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(url: HTTPURL("http://127.0.0.1:1/")))
    #expect(result.error?.code == "connect")
    #expect(events.kinds == [.willExecute, .didConfigure, .didEndHop, .didComplete])
    await engine.shutdown()
  }

  @Test func `the events of a successful transaction come in order`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let events = EventLog()
    var configuration = Configuration()
    configuration.addStage("trace", StageCode(observing: { events.append($0.kind) }))
    let engine = try Engine(configuration)
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/a")))
    #expect(
      events.kinds == [
        .willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .didValidateResponse, .didExtract,
        .didValidatePayload, .didComplete,
      ])
    await engine.shutdown()
  }

  @Test func `cancelling the task cancels the transaction`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let engine = try Engine(Configuration())
    let url = try HTTPURL(server.baseURL + "/a")
    let task = Task { await engine.transaction(Request(url: url)) }
    try await server.waitForHeld(1)
    task.cancel()
    let result = await task.value
    #expect(result.outcome == .cancelled)
    server.release()
    await engine.shutdown()
  }

  @Test func `an HTTP error fails the transaction and keeps the response`() async throws {
    let server = try LoopbackServer { _ in ServerResponse(status: 503) }
    defer { server.stop() }
    let engine = try Engine(Configuration())
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let failure = await #expect(throws: TransactionFailure.self) { try await engine.perform(request) }
    #expect(failure?.error.code == "http_status")
    #expect(failure?.result.response?.status == 503)
    await engine.shutdown()
  }

  @Test func `a shutdown lets submitted requests finish, and refuses later ones`() async throws {
    let server = try LoopbackServer(recording: .countOnly)
    defer { server.stop() }
    let engine = try Engine(Configuration())
    let request = Request(url: try HTTPURL(server.baseURL + "/a"))
    let outcomes = ResultLog()
    for _ in 0..<200 { engine.submit(request) { outcomes.append($0) } }
    await engine.shutdown()
    #expect(outcomes.codes == Array(repeating: nil, count: 200))
    engine.submit(request) { outcomes.append($0) }
    #expect(outcomes.codes.last == "shutdown")
  }
}
