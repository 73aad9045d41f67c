import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// The events and phases of transactions that fail on the wire.
@Suite struct EventFailureTests: EventScenario {
  @Test func `a name that does not exist fails before anything is issued`() async throws {
    let story = try await tell(get("http://no-such-host.invalid/"))
    #expect(story.code == "dns")
    #expect(story.kinds == Self.neverIssued)
    #expect(try story.timings().nameLookup > .zero)
    #expect(try story.first(.didComplete).outcome == .failed)
    #expect(try story.first(.didComplete).errorCode == "dns")
  }

  @Test func `a refused connection fails before anything is issued`() async throws {
    let story = try await tell(get("http://127.0.0.1:\(Loopback.freePort())/"))
    #expect(story.code == "connect")
    #expect(story.kinds == Self.neverIssued)
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `an untrusted certificate fails before anything is issued`() async throws {
    try await withSecureServer { nginx, _, _ in
      let story = try await tell(get(nginx.secureBaseURL + "/"))
      #expect(story.code == "tls")
      #expect(story.kinds == Self.neverIssued)
    }
  }

  @Test func `a TLS handshake with a server that does not speak TLS fails before anything is issued`() async throws {
    let server = try ScriptedServer(.receive(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"))
    let story = try await tell(get("https://127.0.0.1:\(server.port)/"))
    #expect(story.code == "tls")
    #expect(story.kinds == Self.neverIssued)
  }

  @Test func `if a proxy refuses, the transaction fails before anything is issued`() async throws {
    let proxy = try ScriptedServer(.receiveHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
    let story = try await tell(get("https://a.test/")) { $0.transport.proxy = proxy.baseURL }
    #expect(story.code == "proxy")
    #expect(story.kinds == Self.neverIssued)
  }

  @Test func `a request through a proxy has the usual events`() async throws {
    let proxy = try ScriptedServer([ScriptStep.respond(body: "through")])
    let story = try await tell(get("http://a.test/x")) { $0.transport.proxy = proxy.baseURL }
    #expect(story.kinds == Self.success)
    #expect(try story.timings().peerAddress == "127.0.0.1")
    #expect(proxy.receivedText.first?.hasPrefix("GET http://a.test/x HTTP/1.1\r\n") == true)
  }

  @Test(.enabled(if: NginxServer.isAvailable))
  func `a request through a proxy's tunnel has the usual events, and only the server gets its headers`()
    async throws
  {
    try await withSecureServer { nginx, _, trust in
      let proxy = try ScriptedServer(
        .receiveHead, .send("HTTP/1.1 200 Connection established\r\n\r\n"), .tunnel(toPort: nginx.securePort))
      var request = try get(nginx.secureBaseURL + "/")
      request.headers["x-secret"] = "for the server"
      let story = try await tell(request) {
        trust(&$0)
        $0.transport.proxy = proxy.baseURL
      }
      #expect(story.kinds == Self.success)
      #expect(story.result.response?.status == 200)
      #expect(try story.timings().tlsHandshake > .zero)
      let sent = try #require(proxy.receivedText.first)
      #expect(sent.hasPrefix("CONNECT localhost:\(nginx.securePort) HTTP/1.1\r\n"))
      #expect(!sent.contains("x-secret"))
    }
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le"])
  func `a connection that dies before the head has a did_issue and no did_receive`(_ sent: String) async throws {
    let server = try ScriptedServer(.receiveHead, .send(sent), .reset)
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "connection_lost")
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `a connection that dies in the response body has a did_receive and fails`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"))
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "connection_lost")
    #expect(story.kinds == Self.lostInTheBody)
    #expect(try story.timings().bytesReceived == 3)
  }

  @Test func `a response that is not HTTP has a did_issue and no did_receive`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("SSH-2.0-OpenSSH_9.2\r\n"))
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "invalid_response")
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `a response that is too large fails after did_receive`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\naaaaaaaa\r\n0\r\n\r\n"))
    let story = try await tell(get(server.baseURL)) { $0.transport.maximumResponseBytes = 4 }
    #expect(story.code == "response_too_large")
    #expect(story.kinds == Self.lostInTheBody)
  }

  @Test func `content that cannot be decoded fails after did_receive`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"))
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "decoding")
    #expect(try story.first(.didComplete).outcome == .failed)
  }

  @Test func `a connection that is not accepted times out before anything is issued`() async throws {
    let listener = try FullListener()
    let story = try await tell(get("http://127.0.0.1:\(listener.port)/")) {
      $0.transport.connectTimeout = .milliseconds(50)
    }
    #expect(story.code == "connect_timeout")
    #expect(story.kinds == Self.neverIssued)
    #expect(try story.timings().send == .zero && story.timings().wait == .zero)
  }

  @Test func `if a server does not answer the TLS handshake, the transaction times out before anything is issued`()
    async throws
  {
    let done = Signal()
    defer { done.set() }
    let server = try ScriptedServer(.receive(1), .wait(done))
    let story = try await tell(get("https://127.0.0.1:\(server.port)/")) {
      $0.transport.connectTimeout = .milliseconds(300)
    }
    #expect(story.code == "connect_timeout")
    #expect(story.kinds == Self.neverIssued)
  }

  @Test func `a response with a header beyond the limit has a did_issue and no did_receive`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nX-Long: \(String(repeating: "v", count: 300_000))\r\n\r\n"))
    let story = try await tell(get(server.baseURL))
    #expect(story.code != nil)
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `if a stage responds after a failed connection, there is no did_receive, and the response is validated`()
    async throws
  {
    let text = """
      {"plugins": {"cache": {"library": "\(BuiltProducts.library("cache"))"}}, "request": ["cache"],
       "response": ["cache"], "deadline": null}
      """
    let configuration = try Configuration(text: Array(text.utf8))
    let server = try ScriptedServer([
      ScriptStep.respond(headers: ["Cache-Control: max-age=0, stale-if-error=600", "Connection: close"], body: "old"),
      [.reset],
    ])
    let request = try get(server.baseURL + "/")
    let stories = try await tell([request, request]) { $0 = configuration }
    let last = try #require(stories.last)
    #expect(last.result.response?.body.bytes == Array("old".utf8))
    #expect(!last.kinds.contains(.didReceive))
    #expect(last.kinds.suffix(4) == Self.validated)
  }
}
