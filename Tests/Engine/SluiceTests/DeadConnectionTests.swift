import Sluice
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// Kept connections that have died without a sign: requests on them get no answer.
@Suite struct DeadConnectionTests {
  private func engine(_ change: (inout Configuration) -> Void) throws -> Engine {
    var configuration = Configuration()
    configuration.transport.loops = 1
    configuration.transport.timeout = .seconds(1)
    configuration.transport.connectTimeout = .seconds(300)
    configuration.deadline = .seconds(300)
    configuration.retry = .standard
    configuration.retry.backoff = Backoff(base: .milliseconds(1), maximum: .milliseconds(5))
    configuration.maximumAttempts = 10
    change(&configuration)
    return try Engine(configuration)
  }

  @Test func `over HTTP 1_1, a retry takes no other kept connection, since it may be dead too`() async throws {
    let haveBegun = [Signal(), Signal()]
    let dead = (0..<2).map { number in
      [ScriptStep.receiveRequest, .signal(haveBegun[number]), .wait(haveBegun[1 - number])]
        + [.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndead"), .receiveToEnd]
    }
    let server = try ScriptedServer(dead + [ScriptStep.respond(body: "new") + [.receiveToEnd]])
    let engine = try engine { _ in }
    let url = try HTTPURL(server.baseURL)
    async let first = engine.transaction(Request(url: url))
    async let second = engine.transaction(Request(url: url))
    let bodies = await [first, second].map { $0.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } }
    #expect(bodies == ["dead", "dead"])
    let result = await engine.transaction(Request(url: url))
    #expect(result.response?.body.bytes == Array("new".utf8), "\(String(describing: result.error))")
    // One of the two dead connections was tried, not both.
    #expect(server.receivedText.prefix(2).map { $0.split(separator: "GET / ").count }.reduce(0, +) == 3)
    await engine.shutdown()
  }

  @Test func `over HTTP 2, a retry and later requests do not wait for a dead connection`() async throws {
    let request: [ScriptStep] = [.receive(24), .receiveFrame(type: 1)]
    let server = try ScriptedServer([
      request + [.send(HTTP2Frame.settings + HTTP2Frame.answer("dead")), .receiveToEnd],
      request + [
        .send(HTTP2Frame.settings + HTTP2Frame.answer("new")), .receiveFrame(type: 1),
        .send(HTTP2Frame.answer("newer", stream: 3)), .receiveToEnd,
      ],
    ])
    let engine = try engine { configuration in
      configuration.transport.httpVersion = .http2
      configuration.transport.assumesHTTP2 = true
      // Without the evidence of the request, the connection would be trusted for 10 minutes.
      configuration.transport.trustedSilence = .seconds(600)
      configuration.transport.pingLimit = .seconds(600)
    }
    let url = try HTTPURL(server.baseURL)
    var bodies: [[UInt8]?] = []
    for _ in 0..<3 { bodies.append(await engine.transaction(Request(url: url)).response?.body.bytes) }
    #expect(bodies == ["dead", "new", "newer"].map { Array($0.utf8) })
    await engine.shutdown()
  }
}
