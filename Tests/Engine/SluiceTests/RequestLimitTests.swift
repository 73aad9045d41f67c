import Sluice
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// Requests that exceed a limit and are not sent.
@Suite struct RequestLimitTests {
  @Test func `a transaction beyond limits_transactions fails at once, whether a thread or a loop submits it`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    var configuration = Configuration()
    configuration.transport.loops = 2
    configuration.limits.transactions = 3
    let engine = try Engine(configuration)
    let request = Request(url: try HTTPURL(server.baseURL + "/"))
    let results = Watched<[ErrorCode?]>([])
    func submit() { engine.submit(request) { result in results.update { $0.append(result.error?.code) } } }
    for _ in 0..<3 { submit() }
    try await server.waitForHeld(3)
    submit()
    #expect(results.value == ["too_many_transactions"])
    let onLoop = Task(executorPreference: engine.executors[0]) { await engine.transaction(request).error }
    let error = await onLoop.value
    #expect(error?.code == "too_many_transactions" && error?.isBeforeSending == true)
    #expect(error?.message.contains("3 transactions are in flight, as many as limits.transactions allows") == true)
    server.release()
    #expect(try await results.wait(for: "the results") { $0.count == 4 }.dropFirst() == [nil, nil, nil])
    #expect(await engine.transaction(request).error == nil)
    await engine.shutdown()
  }

  @Test func `a request body beyond maximumRequestBytes fails before anything is sent, even if a stage made it`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.transport.maximumRequestBytes = 10
    configuration.addStage(
      "grows",
      StageCode(request: { request, _ in
        if request.method == "PUT" { request.body = Array("eleven byte".utf8) }
      }))
    let engine = try Engine(configuration)
    let url = try HTTPURL(server.baseURL + "/")
    for (method, body) in [("POST", Body.text("eleven byte")), ("PUT", .empty), ("POST", .text("ten bytes!"))] {
      let result = await engine.transaction(Request(method: method, url: url, body: body))
      let isAllowed = body.byteCount == 10
      #expect(result.error?.code == (isAllowed ? nil : "request_too_large"))
      #expect(isAllowed || result.error?.message.contains("has 11 bytes, 10 are allowed") == true)
    }
    #expect(server.requestCount == 1)
    await engine.shutdown()
  }
}
