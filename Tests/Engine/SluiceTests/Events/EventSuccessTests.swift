import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// The events and phases of successful transactions.
@Suite struct EventSuccessTests: EventScenario {
  @Test func `a successful request has the usual events`() async throws {
    try await withServer { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.kinds == Self.success)
      #expect(try story.first(.didComplete).outcome == .succeeded)
    }
  }

  @Test func `a successful request to an IP address looks up no name`() async throws {
    try await withServer { server in
      let story = try await tell(get("http://127.0.0.1:\(server.port)/"))
      #expect(try story.timings().nameLookup == .zero)
    }
  }

  @Test func `a successful request to a host name reports how long the look-up took`() async throws {
    try await withServer { server in
      let story = try await tell(get("http://localhost:\(server.port)/"))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().nameLookup > .zero)
    }
  }

  @Test func `a successful request with a completion closure has the usual events`() async throws {
    try await withServer { server in
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.addStage("ledger", log.code)
      let engine = try Engine(configuration)
      let ends = Watched(0)
      engine.submit(try get(server.baseURL + "/")) { _ in ends.update { $0 += 1 } }
      try await ends.wait { $0 == 1 }
      await engine.shutdown()
      #expect(log.kinds == Self.success)
    }
  }

  @Test func `a second request on the same connection has the usual events`() async throws {
    try await withServer { server in
      let request = try get(server.baseURL + "/")
      let stories = try await tell([request, request])
      #expect(stories.map(\.kinds) == [Self.success, Self.success])
      #expect(try stories.map { try $0.timings().isConnectionReused } == [false, true])
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a reused connection has no connect phase`() async throws {
    try await withSecureServer { nginx, _, trust in
      let request = try get(nginx.secureBaseURL + "/")
      let stories = try await tell([request, request], trust)
      let (first, second) = (try #require(stories.first), try #require(stories.last))
      #expect(try first.timings().connect > .zero)
      #expect(try first.timings().tlsHandshake > .zero)
      #expect(try second.timings().nameLookup == .zero)
      #expect(try second.timings().connect == .zero)
      #expect(try second.timings().tlsHandshake == .zero)
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a success over HTTP-2 has the usual events`() async throws {
    try await withSecureServer { nginx, _, trust in
      let story = try await tell(get(nginx.secureBaseURL + "/"), trust)
      #expect(story.kinds == Self.success)
      #expect(try story.timings().version == .http2)
    }
  }

  @Test(arguments: [204, 200])
  func `an answer without content has the usual events`(_ status: Int) async throws {
    try await withServer({ _ in ServerResponse(status: status) }) { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesReceived == 0)
    }
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `an answer without content over HTTP-2 has the usual events`()
    async throws
  {
    try await withSecureServer { nginx, _, trust in
      let story = try await tell(get(nginx.secureBaseURL + "/status/204"), trust)
      #expect(story.kinds == Self.success)
    }
  }

  @Test func `an answer to HEAD has the usual events`() async throws {
    try await withServer { server in
      let story = try await tell(Request(method: "HEAD", url: HTTPURL(server.baseURL + "/")))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesReceived == 0)
    }
  }

  @Test func `an answer in chunks has the usual events`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"))
    let story = try await tell(get(server.baseURL))
    #expect(story.kinds == Self.success)
    #expect(try story.timings().bytesReceived >= 5)
  }

  @Test func `a response that ends with the connection has the usual events`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"))
    let story = try await tell(get(server.baseURL))
    #expect(story.kinds == Self.success)
    #expect(story.result.response?.body.bytes == Array("abc".utf8))
  }

  @Test func `a slow answer in many pieces has the usual events, and a long receive phase`() async throws {
    let go = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na"), .wait(go), .send("bcd"))
    async let story = tell(get(server.baseURL))
    try await server.waitForConnections(1)
    go.set()
    let told = try await story
    #expect(told.kinds == Self.success)
    #expect(try told.timings().receive > .zero)
  }

  @Test func `HTTP-1-0 answers have the same events`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.0 200 OK\r\n\r\nabc"))
    let story = try await tell(get(server.baseURL))
    #expect(story.kinds == Self.success)
    #expect(try story.timings().version == .http10)
  }

  @Test(arguments: [1, 3])
  func `informational responses are reported between did_issue and did_receive`(_ count: Int) async throws {
    let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: count)
    let server = try ScriptedServer(.receiveHead, .send(hints + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let story = try await tell(get(server.baseURL))
    let informational = Array(repeating: TraceEvent.Kind.didReceiveInformational, count: count)
    #expect(story.kinds == Self.success.prefix(3) + informational + Self.success.dropFirst(3))
    #expect(try story.first(.didReceiveInformational).status == 103)
    #expect(try story.first(.didReceive).status == 200)
  }

  @Test func `each 100 Continue is reported once, between did_issue and did_receive`() async throws {
    let server = try ScriptedServer(
      .receiveRequest,
      .send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let story = try await tell(post(server.baseURL, .text("body")))
    #expect(story.kinds.count { $0 == .didReceiveInformational } == 2)
    #expect(story.kinds.filter { $0 != .didReceiveInformational } == Self.success)
    #expect(try story.first(.didReceiveInformational).status == 100)
  }

  @Test func `a response with a head of many kilobytes has the usual events`() async throws {
    let fields = (0..<100).map { "X-\($0): \(String(repeating: "v", count: 500))\r\n" }.joined()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 2\r\n\r\nok"))
    let story = try await tell(get(server.baseURL))
    #expect(story.kinds == Self.success)
    #expect(story.result.response?.headers["x-99"]?.utf8.count == 500)
    #expect(try story.timings().bytesReceived == 2)
  }

  @Test func `trailers have no separate event`() async throws {
    let server = try ScriptedServer(
      .receiveHead,
      .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nab\r\n0\r\nX-Sum: 7\r\n\r\n"))
    let story = try await tell(get(server.baseURL))
    #expect(story.kinds == Self.success)
  }

  @Test func `if the caller set a condition, a 304 has the events of a success`() async throws {
    try await withServer({ _ in ServerResponse(status: 304) }) { server in
      var request = try get(server.baseURL + "/")
      request.headers["if-none-match"] = "\"a\""
      let story = try await tell(request)
      #expect(story.kinds == Self.success)
      #expect(try story.first(.didReceive).status == 304)
    }
  }

  @Test func `a response from the cache has no did_issue, but a revalidated response has one`() async throws {
    try await withServer({ request in
      let isKnown = request.value(of: "if-none-match") == "\"a\""
      let maxAge = request.path == "/fresh" ? "max-age=600" : "max-age=0"
      let headers = [HeaderLine("ETag", "\"a\""), HeaderLine("Cache-Control", maxAge)]
      return ServerResponse(status: isKnown ? 304 : 200, headers: headers)
    }) { server in
      let text = """
        {"plugins": {"cache": {"library": "\(BuiltProducts.library("cache"))"}},
         "request": ["cache"], "response": ["cache"], "deadline": null}
        """
      let configuration = try Configuration(text: Array(text.utf8))
      let (fresh, stale) = (try get(server.baseURL + "/fresh"), try get(server.baseURL + "/stale"))
      let stories = try await tell([fresh, fresh, stale, stale]) { $0 = configuration }
      #expect(stories.map(\.kinds) == [Self.success, [.willExecute] + Self.validated, Self.success, Self.success])
      #expect(stories.map(\.result.status) == [200, 200, 200, 200])
      #expect(try stories.last?.first(.didReceive).status == 304)
    }
  }
}
