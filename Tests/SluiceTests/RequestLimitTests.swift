import Sluice
import SluiceServer
import SluiceTestKit
import Testing

/// Requests that the engine does not send.
@Suite struct RequestLimitTests {
  @Test func `F4: a request body beyond maxRequestBytes fails before anything is sent, also where a stage made it`()
    async throws
  {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.transport.maxRequestBytes = 10
    configuration.append(
      StageCode(request: { request, _ in
        if request.method == "PUT" { request.body = .text("eleven byte") }
      }), named: "grows")
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
