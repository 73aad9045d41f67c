import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceGateway

/// Rules of RFC 9110, 9112 and 9113 for intermediaries that the other tests do not show. `docs/http-rules.md` lists all.
@Suite struct GatewayRulesTests {
  /// What an upstream gets when a client sends this text: the lines of the head.
  private static func sent(
    _ text: String, status: Int = 200, settings: (inout ServeSettings) -> Void = { _ in }
  ) async throws -> [String] {
    let upstream = try ScriptedServer([[.receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]])
    let fixture = try GatewayFixture(to: upstream.baseURL, settings: settings)
    do {
      let client = try fixture.client()
      try client.send(text)
      #expect(try client.readResponse().status == status)
    }
    #expect(await fixture.end())
    return upstream.receivedText.first?.split(separator: "\r\n").map(String.init) ?? []
  }

  /// What a client gets when an upstream answers with this text.
  private static func received(
    _ answer: String, _ method: String = "GET", version: String = "1.1", headers: String = ""
  ) async throws -> String {
    let upstream = try ScriptedServer([[.receiveRequest, .send(answer)]])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let text = try fixture.client().exchange(
      "\(method) / HTTP/\(version)\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n")
    #expect(await fixture.end())
    return text
  }

  // MARK: Requests

  // RFC 9110 §5.3, §11.6.2, §13.2.1
  @Test func `fields keep their order, and credentials and conditions pass unchanged`() async throws {
    let fields = [
      "X-A: 1", "X-B: 2", "X-A: 3", "Authorization: Basic a", "If-None-Match: \"a\", W/\"b\"", "If-Range: \"b\"",
      "Range: bytes=0-1", "Accept: ,text/html,, */*",
    ]
    let lines = try await Self.sent("GET / HTTP/1.1\r\nHost: localhost\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n")
    #expect(lines.filter { fields.contains($0) } == fields)
  }

  // RFC 9110 §7.6.3
  @Test func `this hop is appended to Via`() async throws {
    let lines = try await Self.sent("GET / HTTP/1.0\r\nHost: localhost\r\nVia: 1.1 a\r\nVia: 2.0 b (c)\r\n\r\n")
    #expect(lines.contains { $0.hasPrefix("Via: 1.1 a, 2.0 b (c), 1.0 sluice-") }, "\(lines)")
  }

  // RFC 9112 §2.3, §3.2; RFC 9110 §7.8, §10.1.1
  @Test func `a request in HTTP 1.0 goes on in HTTP 1.1, without expectations and upgrades`() async throws {
    let lines = try await Self.sent(
      "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi"
    )
    #expect(lines.first == "PUT / HTTP/1.1" && lines.last == "hi")
    #expect(lines.count { $0.hasPrefix("Host: ") } == 1)
    #expect(!lines.contains { $0.hasPrefix("Expect") || $0.hasPrefix("Upgrade") }, "\(lines)")
  }

  // RFC 9110 §5.3, §10.1.1
  @Test(arguments: [
    ["Expect: 100-continue", "expect: 100-continue"], ["Expect: 100-continue, 100-Continue,"],
  ])
  func `a repeated expectation is one`(_ fields: [String]) async throws {
    let lines = try await Self.sent(
      "PUT / HTTP/1.1\r\nHost: localhost\r\n\(fields.joined(separator: "\r\n"))\r\nContent-Length: 2\r\n\r\nhi")
    #expect(lines.filter { $0.lowercased().hasPrefix("expect") } == ["Expect: 100-continue"], "\(lines)")
  }

  @Test func `a field that looks like framing with an underscore is not passed on`() async throws {
    let lines = try await Self.sent(
      "GET / HTTP/1.1\r\nHost: localhost\r\nContent_Length: 5\r\ntransfer_Encoding: chunked\r\nX_A: 1\r\n\r\n")
    #expect(lines.filter { $0.contains("_") } == ["X_A: 1"], "\(lines)")
  }

  // RFC 9112 §3.2.2
  @Test func `the host of an absolute target wins`() async throws {
    let lines = try await Self.sent("GET http://localhost:1/a HTTP/1.1\r\nHost: other.example\r\n\r\n")
    #expect(lines.first == "GET /a HTTP/1.1" && lines.contains("Host: localhost:1"), "\(lines)")
  }

  // RFC 9110 §7.6.1
  @Test func `a field that is named like an option is not passed on, and Host stays`() async throws {
    let lines = try await Self.sent(
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Close, host\r\nClose: 1\r\nX-A: 1\r\n\r\n")
    #expect(!lines.contains("Close: 1") && lines.contains("X-A: 1") && lines.contains("Host: localhost"), "\(lines)")
  }

  // RFC 9110 §7.6.2
  @Test(
    arguments: [
      ("OPTIONS", "3", 200, "2"), ("TRACE", "1", 200, "0"), ("OPTIONS", "0", 200, nil), ("TRACE", "0", 501, nil),
      ("OPTIONS", "x", 400, nil), ("OPTIONS", "-0", 400, nil), ("GET", "0", 200, "0"),
      ("OPTIONS", "99999999999999999999", 200, "254"), ("OPTIONS", "00", 200, nil),
    ] as [(String, String, Int, String?)])
  func `Max-Forwards is counted down`(_ method: String, _ value: String, _ status: Int, _ passed: String?) async throws
  {
    let upstream = try ScriptedServer([ScriptStep.respond()])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    #expect(try fixture.client().request(method, "/a", headers: ["Max-Forwards: \(value)"]).status == status)
    #expect(await fixture.end())
    #expect(upstream.connectionCount == (passed == nil ? 0 : 1))
    if let passed { #expect(upstream.receivedText[0].contains("\r\nMax-Forwards: \(passed)\r\n")) }
  }

  // RFC 9110 §7.4
  @Test(arguments: ServeSettings.Forwarded.allCases)
  func `an https URL is served without TLS only behind a gateway`(_ forwarded: ServeSettings.Forwarded) async throws {
    let isServed = forwarded == .append
    let lines = try await Self.sent(
      "GET https://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", status: isServed ? 200 : 421
    ) { $0.forwarded = forwarded }
    #expect(lines.isEmpty != isServed)
  }

  // RFC 9110 §6.5.1, §7.6.1
  @Test func `trailers that frame, route or describe a request are dropped`() async throws {
    let passed = "1\r\na\r\n0\r\nX-T: 1\r\n\r\n"
    let upstream = try ScriptedServer([
      [.receiveHead, .receive(passed.utf8.count), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
    ])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let client = try fixture.client()
    try client.send(
      "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nHost: a\r\nContent-Type: b\r\n"
        + "Keep-Alive: 1\r\nTransfer-Encoding: x\r\nX-T: 1\r\n\r\n")
    #expect(try client.readResponse().status == 200)
    #expect(await fixture.end())
    #expect(upstream.receivedText[0].hasSuffix("\r\n\r\n" + passed), "\(upstream.receivedText)")
  }

  // RFC 9110 §3.3
  @Test func `requests of one connection can be of several users`() async throws {
    let answer = [ScriptStep.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
    let upstream = try ScriptedServer([answer + answer])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let client = try fixture.client()
    for user in ["a", "b"] {
      let fields = ["Host: localhost:\(user == "a" ? 1 : 2)", "Authorization: Basic \(user)"]
      #expect(try client.request(headers: fields).status == 200)
    }
    #expect(await fixture.end())
    let heads = upstream.receivedText.joined().components(of: "\r\n\r\n")
    #expect(heads.count == 2)
    for (head, (port, user)) in zip(heads, [(1, "a"), (2, "b")]) {
      #expect(head.contains("\r\nHost: localhost:\(port)\r\n") && head.contains("Authorization: Basic \(user)\r\n"))
      #expect(head.contains("Forwarded: for=127.0.0.1;proto=http;host=\"localhost:\(port)\""))
    }
  }

  // CVE-2026-2833: Pingora passed bytes behind an Upgrade on before the service had agreed.
  @Test func `bytes after an Upgrade are the next request, and an unrequested 101 is a failure`() async throws {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    let upstream = try ScriptedServer([
      [.receiveHead, .send(ok), .receiveHead, .send(ok)],
      [.receiveHead, .send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"), .close],
    ])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let client = try fixture.client()
    let upgrade = "GET /1 HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n"
    try client.send(upgrade + "GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for _ in 0..<2 { #expect(try client.readResponse().status == 200) }
    let heads = upstream.receivedText[0].components(of: "\r\n\r\n")
    #expect(heads.map { String($0.prefix(6)) } == ["GET /1", "GET /2"], "\(heads)")
    #expect(!heads.contains { $0.lowercased().contains("upgrade") })
    try client.send(upgrade)
    #expect(try client.readResponse().status == 502)
    #expect(await fixture.end())
  }

  // RFC 9112 §9.6
  @Test func `a request behind one with close is not served`() async throws {
    let answer = [ScriptStep.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")]
    let upstream = try ScriptedServer([answer + [.receiveToEnd], answer])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let text = try fixture.client().exchange(
      "GET /1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\nGET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(text.components(of: "HTTP/1.1 200 ").count == 1)
    #expect(await fixture.end())
    #expect(!upstream.receivedText.joined().contains("/2"))
  }

  // MARK: Responses

  // RFC 9110 §6.6.1
  @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "GET /\u{1} HTTP/1.1\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"])
  func `a refusal has a date`(_ text: String) async throws {
    let fixture = try GatewayFixture(to: 9)
    let client = try fixture.client()
    try client.send(text)
    let response = try client.readResponse()
    #expect(response.status >= 400 && response.headers.first("date") != nil, "\(response.headers)")
    #expect(await fixture.end())
  }

  // RFC 9110 §5.3, §10.2.1, §11.6.1, §15.4.5
  @Test(arguments: [
    (
      "304 Not Modified",
      ["ETag: \"a\"", "Vary: A, *", "Cache-Control: no-cache", "Expires: 0", "Content-Location: /b"]
    ),
    ("405 No", ["Allow: GET,, X", "Content-Length: 0"]),
    ("401 No", ["WWW-Authenticate: Basic realm=\"a\", Bearer", "WWW-Authenticate: X", "Content-Length: 0"]),
    ("200 OK", ["X-A: 1", "X-B: 2", "X-A: 3", "Content-Length: 0"]),
  ])
  func `fields of a response keep their values and their order`(_ status: String, _ fields: [String]) async throws {
    let text = try await Self.received("HTTP/1.1 \(status)\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n")
    let lines = text.split(separator: "\r\n").map(String.init)
    #expect(lines.filter { fields.contains($0) }.sorted() == fields.sorted(), "\(text)")
    #expect(
      lines.filter { $0.hasPrefix("X-") || $0.hasPrefix("WWW") }
        == fields.filter { !$0.hasPrefix("Content-L") && ($0.hasPrefix("X-") || $0.hasPrefix("WWW")) })
  }

  // RFC 9110 §7.6.1
  @Test func `a response does not pass on what its Connection names, in the head or in the trailers`() async throws {
    let text = try await Self.received(
      "HTTP/1.1 200 OK\r\nConnection: X-Own, close\r\nX-Own: 1\r\nClose: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
        + "X-Own: 2\r\nKeep-Alive: 1\r\nX-T: 1\r\n\r\n")
    #expect(text.contains("\r\nX-T: 1\r\n") && !text.contains("X-Own") && !text.contains("Keep-Alive: 1"), "\(text)")
    #expect(!text.contains("Close: 1"))
    let many = (1...40).map { "a\($0)" }.joined(separator: ", ")
    let refused = try await Self.received(
      "HTTP/1.1 200 OK\r\nConnection: \(many)\r\na40: 1\r\nContent-Length: 1\r\n\r\na")
    #expect(refused.hasPrefix("HTTP/1.1 502 ") && !refused.contains("a40: 1"), "\(refused)")
  }

  // RFC 9110 §8.6, RFC 9112 §6.1
  @Test func `neither an informational response nor a 204 has a length`() async throws {
    let text = try await Self.received(
      "HTTP/1.1 103 Early Hints\r\nLink: a\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204 Empty\r\nContent-Length: 5\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 103 ") && text.contains("Link: a\r\n") && text.contains("HTTP/1.1 204 "))
    #expect(!text.lowercased().contains("content-length"), "\(text)")
  }

  // RFC 9112 §2.3, §6.1
  @Test func `a client in HTTP 1.0 gets a body without chunks, in a response in HTTP 1.1`() async throws {
    let text = try await Self.received(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", version: "1.0")
    #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("\r\n\r\nabc") && !text.contains("chunked"), "\(text)")
    let old = try await Self.received("HTTP/1.0 200 OK\r\n\r\nabc")
    #expect(old.hasPrefix("HTTP/1.1 200 ") && old.contains("abc"), "\(old)")
  }

  // RFC 9112 §9.6
  @Test func `no request follows on a connection that the upstream wants to close`() async throws {
    let script: [ScriptStep] = [
      .receiveRequest, .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), .receiveToEnd,
    ]
    let upstream = try ScriptedServer([script, script])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let client = try fixture.client()
    for _ in 0..<2 { #expect(try client.request().status == 200) }
    #expect(await fixture.end())
    #expect(upstream.connectionCount == 2)
  }

  // RFC 9110 §9.3.2: the head of a HEAD is that of a GET, whose body is decoded for the stage.
  @Test(arguments: ["GET", "HEAD"])
  func `a stage that reads bodies changes the answers to GET and HEAD alike`(_ method: String) async throws {
    let body = EncodedBody.bytes(.gzip, Array("hello".utf8))
    let upstream = try ScriptedServer([
      [
        .receiveRequest,
        .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nETag: \"a\"\r\nContent-Length: \(body.count)\r\n\r\n"),
        .send(method == "HEAD" ? [] : body),
      ]
    ])
    let fixture = try GatewayFixture(to: upstream.baseURL) {
      $0.addStage("reads", StageCode(response: { _, _ in }, options: .wantsResponseBody))
    }
    let response = try fixture.client().request(method)
    #expect(response.status == 200 && response.body == (method == "HEAD" ? [] : Array("hello".utf8)))
    #expect(response.headers.first("content-encoding") == nil && response.headers.first("etag") == "W/\"a\"")
    #expect(["5", nil].contains(response.headers.first("content-length")), "\(response.headers)")
    #expect(await fixture.end())
  }

  // RFC 9110 §15.2, RFC 9113 §8.1, §8.3.2
  @Test func `early hints pass over HTTP 2, with their status, before the response`() async throws {
    let upstream = try ScriptedServer([
      [
        .receiveHead,
        .send("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
      ]
    ])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    do {
      let client = try RawHTTP2Client(port: fixture.gateway.endpoint.port)
      try client.send(HTTP2Frame.headers(RawHTTP2Client.head(), endsStream: true))
      #expect(try client.body(of: 1) == "hi")
      let heads = client.received.filter { $0.stream == 1 && $0.type == 1 }
      #expect(heads.map { $0.payload.first } == [0x48, 0x88] && heads.first.map { $0.flags & 1 } == 0, "\(heads)")
    }
    #expect(await fixture.end())
  }

  // MARK: An upstream in HTTP/2

  // RFC 9113 §8.2.2, §8.3.1
  @Test func `an upstream in HTTP 2 gets no field of a connection, and the host that the client has named`()
    async throws
  {
    let server = try Server { request in
      let fields = request.head.fields.map { "\($0.name): \($0.value)" } + ["trailers"]
      let trailers = request.trailers.map { "\($0.name): \($0.value)" }
      return Response(status: 200, body: .bytes(Array((fields + trailers).joined(separator: "\n").utf8)))
    }
    let fixture = try GatewayFixture(to: "http://\(server.endpoint)") {
      $0.transport.httpVersion = .http2
      $0.transport.assumesHTTP2 = true
    }
    let client = try fixture.client()
    try client.send(
      "PUT / HTTP/1.1\r\nHost: localhost:1\r\nConnection: X-Own\r\nX-Own: 1\r\nKeep-Alive: 1\r\nTE: gzip, trailers\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nKeep-Alive: 1\r\nTransfer-Encoding: x\r\nX-T: 1\r\n\r\n")
    let lines = try client.readResponse().bodyText.split(separator: "\n").map { $0.lowercased() }
    #expect(lines.first == "host: localhost:1" && lines.contains("te: trailers"), "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("connection") || $0.hasPrefix("x-own") || $0.hasPrefix("keep-alive") })
    #expect(Array(lines.suffix(2)) == ["trailers", "x-t: 1"], "\(lines)")
    #expect(await fixture.end())
    await WaitingRoom.run { _ = server.drain(within: Patience.limit) }
  }
}

extension RawClient {
  /// Sends a text, and returns everything that comes until the server closes.
  fileprivate func exchange(_ text: String) throws -> String {
    try send(text)
    return String(decoding: try readToEnd(), as: UTF8.self)
  }
}

extension String {
  /// The parts between the separators that are not empty.
  fileprivate func components(of separator: String) -> [String] { split(separator: separator).map(String.init) }
}
