import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceGateway

/// Bodies both ways, in pieces and whole, and what happens when one side is slow or goes away.
@Suite struct GatewayBodyTests {
  private static let megabyte = 1 << 20

  @Test func `a body with a length and a body in chunks pass with their trailers`() async throws {
    let response =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"
    let upstream = try ScriptedServer([
      [.receiveRequest, .send(response)],
      [.receiveHead, .receive("2\r\nhi\r\n0\r\nX-U: 2\r\n\r\n".utf8.count), .send(response)],
    ])
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    #expect(try client.request("POST", body: "hello").bodyText == "abc")
    let other = try fixture.client()
    try other.send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-U: 2\r\n\r\n")
    let (status, head) = try other.readHead()
    #expect(status == 200 && head.isChunked)
    #expect(String(decoding: try other.take(21), as: UTF8.self) == "3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n")
    #expect(await fixture.end())
    #expect(upstream.receivedText[0].hasSuffix("Content-Length: 5\r\n\r\nhello"))
    #expect(upstream.receivedText[1].hasSuffix("2\r\nhi\r\n0\r\nX-U: 2\r\n\r\n"))
  }

  @Test func `large bodies pass in both directions`() async throws {
    let count = 8 * Self.megabyte
    let upstream = try EmbeddedServer { ServerResponse(status: 200, body: .bytes($0.body)) }
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    let sender = Watched(false)
    try client.send("POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(count)\r\n\r\n")
    let socket = client.socket
    Threads.start {
      for start in stride(from: 0, to: count, by: Self.megabyte) {
        try? socket.write(BytePattern.alphabet.bytes(from: UInt64(start), count: Self.megabyte))
      }
      sender.update { $0 = true }
    }
    let response = try client.readResponse()
    #expect(response.status == 200)
    try await sender.wait(for: "the body to be sent") { $0 }
    #expect(await fixture.end())
    upstream.stop()
  }

  @Test func `a client that does not read holds the upstream back`() async throws {
    let sent = Signal()
    let upstream = try ScriptedServer(
      ScriptStep.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(16 * Self.megabyte)\r\n\r\n"),
      .sendPattern(.alphabet, byteCount: 16 * Self.megabyte), .signal(sent))
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try client.readHead().status == 200)
    // Another client is served in the meantime, on both loops.
    for _ in 0..<4 {
      let other = try fixture.client()
      #expect(try other.request("OPTIONS", "*").status == 501)
    }
    #expect(!sent.isSet)
    #expect(try client.skip(16 * Self.megabyte, expecting: .alphabet) == 16 * Self.megabyte)
    #expect(await fixture.end())
  }

  @Test func `an upstream that does not read holds the client back`() async throws {
    let go = Signal()
    let count = 16 * Self.megabyte
    let upstream = try ScriptedServer(
      ScriptStep.receiveHead, .wait(go), .receive(count), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    try client.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(count)\r\n\r\n")
    let written = Watched(0)
    let socket = client.socket
    Threads.start {
      for start in stride(from: 0, to: count, by: Self.megabyte) {
        guard (try? socket.write(BytePattern.alphabet.bytes(from: UInt64(start), count: Self.megabyte))) != nil else {
          return
        }
        written.update { $0 += Self.megabyte }
      }
    }
    try await upstream.waitForConnections(1)
    try await written.wait(for: "the first megabyte") { $0 > 0 }
    #expect(try fixture.client().request("OPTIONS", "*").status == 501)
    #expect(written.value < count)
    go.set()
    #expect(try client.readResponse().status == 200)
    #expect(await fixture.end())
  }

  @Test func `a client that asks first gets 100 when the upstream wants the body`() async throws {
    let upstream = try ScriptedServer([
      [
        .receiveHead, .send("HTTP/1.1 100 Continue\r\n\r\n"), .receive(2),
        .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
      ], [.receiveHead, .send("HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno"), .receiveToEnd],
    ])
    let fixture = try GatewayFixture(to: upstream.port)
    let head = "PUT / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    let client = try fixture.client()
    try client.send(head)
    #expect(try client.readHead().status == 100)
    try client.send("hi")
    #expect(try client.readHead().status == 200)
    let other = try fixture.client()
    try other.send(head)
    #expect(try other.readHead().status == 401)
    #expect(String(decoding: try other.readToEnd(), as: UTF8.self) == "no")
    #expect(await fixture.end())
    #expect(upstream.receivedText[0].contains("Expect: 100-continue"))
    #expect(!upstream.receivedText[1].hasSuffix("hi"))
  }

  @Test func `early hints pass, but not to HTTP 1.0`() async throws {
    let upstream = try ScriptedServer { _, _ in
      [.send("HTTP/1.1 103 X\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")]
    }
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let (status, head) = try client.readHead()
    #expect(status == 103 && head.headers.first("link") == "</a>")
    #expect(try client.readResponse().bodyText == "a")
    try client.send("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
    #expect(try client.readHead().status == 200)
    #expect(await fixture.end())
  }

  @Test func `stages see and change whole bodies, and large ones go through a file`() async throws {
    let count = 3 * Self.megabyte
    let upstream = try ScriptedServer([
      [
        .receiveRequest,
        .send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\nETag: \"a\"\r\n\r\nabc"), .close,
      ],
      [
        .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n"),
        .sendPattern(.alphabet, byteCount: count),
        .receiveToEnd,
      ],
    ])
    let fixture = try GatewayFixture(to: upstream.port) { configuration in
      configuration.transport.loops = 1
      configuration.transport.maximumConnectionsPerHost = 2
      configuration.addStage(
        "whole",
        StageCode(
          request: { request, _ in if request.body != nil { request.body = Array("changed".utf8) } },
          response: { response, _ in if response.body?.count == 3 { response.body = Array("other".utf8) } },
          options: [.wantsRequestBody, .wantsResponseBody]))
    }
    #expect(try fixture.client().request("POST", headers: ["Connection: close"], body: "hello").bodyText == "other")
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let (status, head) = try client.readHead()
    #expect(status == 200 && head.contentLength == count)
    #expect(try client.skip(count, expecting: .alphabet) == count)
    #expect(await fixture.end())
    #expect(upstream.receivedText[0].hasSuffix("\r\n\r\nchanged"))
  }

  @Test(arguments: [(false, false), (true, false), (false, true)])
  func `a coded body is decoded only for a stage`(_ hasStage: Bool, isRecorded: Bool) async throws {
    let body = EncodedBody.bytes(.gzip, Array("hello".utf8))
    let upstream = try ScriptedServer(
      ScriptStep.receiveHead,
      .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nContent-Encoding: gzip\r\nETag: \"a\"\r\n\r\n"),
      .send(body))
    let fixture = try GatewayFixture(to: upstream.baseURL, observer: isRecorded ? RecordingObserver() : nil) {
      guard hasStage else { return }
      $0.addStage("reads", StageCode(response: { _, _ in }, options: .wantsResponseBody))
    }
    let response = try fixture.client().request(headers: ["Accept-Encoding: gzip"])
    #expect(response.body == (hasStage ? Array("hello".utf8) : body))
    #expect(response.headers.first("content-encoding") == (hasStage ? nil : "gzip"))
    #expect(response.headers.first("etag") == (hasStage ? "W/\"a\"" : "\"a\""))
    #expect(await fixture.end())
    #expect(upstream.receivedText[0].contains("Accept-Encoding: gzip\r\n"))
  }

  @Test func `a response that breaks after its head does not look complete`() async throws {
    let texts = ["Content-Length: 50000\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"]
    for text in texts {
      let upstream = try ScriptedServer(ScriptStep.receiveHead, .send("HTTP/1.1 200 OK\r\n" + text), .close)
      let fixture = try GatewayFixture(to: upstream.port)
      let client = try fixture.client()
      try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(throws: (any Error).self) { try client.readResponse() }
      #expect(await fixture.end())
    }
  }

  @Test(arguments: [false, true])
  func `the end of a client cancels its transaction and cuts the upstream`(_ resets: Bool) async throws {
    let went = Signal()
    let upstream = try ScriptedServer(ScriptStep.receiveHead, .signal(went), .receiveToEnd)
    let outcomes = Watched<[String]>([])
    let fixture = try GatewayFixture(to: upstream.port) { configuration in
      configuration.addStage(
        "log",
        StageCode(observing: { event in
          if event.kind == .didComplete { outcomes.update { $0.append(event.error.map { "\($0.code)" } ?? "ok") } }
        }))
    }
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try await went.wait()
    if resets { client.socket.reset() } else { client.socket.close() }
    try await outcomes.wait(for: "the end of the transaction") { $0 == ["cancelled"] }
    try await upstream.waitForScripts()
    #expect(await fixture.end())
  }

  @Test func `an early answer to an upload reaches the client`() async throws {
    let upstream = try ScriptedServer(
      ScriptStep.receiveHead, .send("HTTP/1.1 413 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"),
      .receiveToEnd)
    let fixture = try GatewayFixture(to: upstream.port)
    let client = try fixture.client()
    try client.send("PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(1 << 30)\r\n\r\n")
    try client.socket.write([UInt8](repeating: 65, count: 100_000))
    let response = try client.readResponse()
    #expect(response.status == 413 && response.bodyText == "no")
    #expect(await fixture.end())
  }

  @Test func `a body is sent again if it was gathered, or if no byte of it was taken`() async throws {
    let retries = Watched(0)
    let chunked = "PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
    func retrying(_ configuration: inout Configuration) {
      configuration.retry = .standard
      configuration.retry.backoff.base = .milliseconds(1)
      configuration.addStage(
        "log", StageCode(observing: { event in if event.kind == .willRetry { retries.update { $0 += 1 } } }))
    }
    // Nobody listens, so no byte is taken.
    let silent = try GatewayFixture(to: try Loopback.freePort(), retrying)
    let client = try silent.client()
    try client.send(chunked)
    let refused = try client.readResponse()
    #expect(refused.status == 502 && refused.headers.first("proxy-status") == "sluice; error=destination_unavailable")
    #expect(retries.value == 2)
    #expect(await silent.end())
    // The upstream takes a part of the body and goes away.
    let upstream = try ScriptedServer([[.receiveHead, .receive(1), .close], ScriptStep.respond()])
    let fixture = try GatewayFixture(to: upstream.port, retrying)
    let other = try fixture.client()
    try other.send(chunked)
    #expect(try other.readResponse().status == 502)
    #expect(upstream.connectionCount == 1)
    #expect(await fixture.end())
    // A short body is in memory.
    let next = try ScriptedServer([[.receiveRequest, .close], ScriptStep.respond()])
    let last = try GatewayFixture(to: next.port, retrying)
    #expect(try last.client().request("PUT", body: "hello").status == 200)
    #expect(next.receivedText.allSatisfy { $0.hasSuffix("hello") })
    #expect(await last.end())
  }

  @Test func `a streamed response follows an answered challenge`() async throws {
    let upstream = try ScriptedServer { head, _ in
      head.headers.first("authorization") == nil
        ? [.send("HTTP/1.1 401 No\r\nWWW-Authenticate: Test\r\nContent-Length: 2\r\n\r\nno")]
        : [
          .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n"), .receiveToEnd,
        ]
    }
    let fixture = try GatewayFixture(to: upstream.baseURL) {
      $0.addStage(
        "answers",
        StageCode(challenge: { _, _, _ in .answer("Test a") }))
    }
    let client = try fixture.client()
    try client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(try client.readHead().status == 200)
    #expect(String(decoding: try client.take(10), as: UTF8.self) == "5\r\nfirst\r\n")
    client.socket.reset()
    #expect(await fixture.end())
  }

  @Test func `trailers of a request cannot name another client or carry credentials`() async throws {
    let upstream = try ScriptedServer([[.receiveHead, .receive("0\r\nX-T: 1\r\n\r\n".utf8.count)]])
    let fixture = try GatewayFixture(to: upstream.baseURL)
    let client = try fixture.client()
    try client.send(
      "PUT / HTTP/1.1\r\nHost: localhost\r\nConnection: X-Mine\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Forwarded-For: 1.2.3.4\r\n"
        + "Authorization: a\r\nX-Mine: 1\r\nVia: 1.1 a\r\nX_Forwarded_For: 1\r\nX-T: 1\r\n\r\n")
    #expect(try client.readResponse().status == 502)
    #expect(await fixture.end())
    #expect(upstream.receivedText[0].hasSuffix("0\r\nX-T: 1\r\n\r\n"), "\(upstream.receivedText[0])")
  }
}
