import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceGateway

/// What a client gets when there is no response of an upstream.
@Suite struct GatewayFailureTests {
  private static func failure(
    _ script: [ScriptStep], _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> RawClient.Response {
    let upstream = try ScriptedServer([script])
    let fixture = try GatewayFixture(to: upstream.port) {
      $0.maximumAttempts = 1
      change(&$0)
    }
    let response = try fixture.client().request()
    #expect(await fixture.end())
    return response
  }

  @Test func `a timeout is 504, a broken connection and a broken response are 502`() async throws {
    let never = Signal()
    let late = try await Self.failure([.receiveHead, .wait(never)]) { $0.transport.timeout = .milliseconds(50) }
    #expect(late.status == 504 && late.headers.first("proxy-status") == "sluice; error=http_response_timeout")
    let lost = try await Self.failure([.receiveHead, .close])
    #expect(lost.status == 502 && lost.headers.first("proxy-status") == "sluice; error=connection_terminated")
    let wrong = try await Self.failure([.receiveHead, .send("what\r\n\r\n")])
    #expect(wrong.status == 502 && wrong.headers.first("proxy-status") == "sluice; error=http_protocol_error")
    #expect(wrong.headers.first("content-type") == "application/json")
    #expect(wrong.bodyText.hasPrefix("{\"error\":{\"code\":\"invalid_response\",\"message\":"), "\(wrong.bodyText)")
  }

  @Test func `a head that is not valid is refused, and the connection ends`() async throws {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: upstream.port)
    for (text, status) in [("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HTTP/3.1\r\n\r\n", 505)] {
      let client = try fixture.client()
      try client.send(text)
      let response = try client.readResponse()
      #expect(response.status == status)
      let kind = status == 400 ? "http_request_error" : "proxy_internal_response"
      #expect(response.headers.first("proxy-status") == "sluice; error=\(kind)")
      #expect(response.bodyText == "{\"error\":{\"code\":\"\(kind)\"}}\n")
      #expect(try client.readToEnd().isEmpty)
    }
    #expect(await fixture.end())
    #expect(upstream.connectionCount == 0)
  }

  @Test func `a stage that fails is 500 and is named, a stage that answers is the answer`() async throws {
    let failed = try await Self.failure(ScriptStep.respond()) { configuration in
      configuration.addStage("strict") { _, _ in throw StageFailure(message: "no") }
    }
    #expect(failed.status == 500 && failed.headers.first("proxy-status") == "sluice; error=proxy_internal_error")
    #expect(failed.bodyText.contains("\"stage\":\"strict\""), "\(failed.bodyText)")
    let answered = try await Self.failure(ScriptStep.respond()) { configuration in
      configuration.addStage("answers") { request, _ in request.respond(status: 418).body = Array("tea".utf8) }
    }
    #expect(answered.status == 418 && answered.bodyText == "tea")
  }

  @Test func `too many transactions are 503 with a time to retry`() async throws {
    let (began, go) = (Signal(), Signal())
    let upstream = try ScriptedServer(
      ScriptStep.receiveHead, .signal(began), .wait(go), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let fixture = try GatewayFixture(to: upstream.port) { $0.limits.transactions = 1 }
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try await began.wait()
    let response = try fixture.client().request()
    #expect(response.status == 503 && response.headers.first("retry-after") == "1")
    go.set()
    #expect(try client.readResponse().status == 200)
    #expect(await fixture.end())
  }

  @Test func `a drain lets requests in flight end, and closes their connections`() async throws {
    let (began, go) = (Signal(), Signal())
    let upstream = try ScriptedServer(
      ScriptStep.receiveHead, .signal(began), .wait(go), .send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"))
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try await began.wait()
    async let isEmpty = fixture.end()
    go.set()
    #expect(try client.readResponse().bodyText == "a")
    #expect(try client.readToEnd().isEmpty)
    #expect(await isEmpty)
  }
}
