import Sluice
import SluiceLocks
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceTestKit
import Testing

/// What people of other HTTP clients expect of an event listener, told as the events and phases of the ledger. Every case
/// holds the whole log against the ledger's rules as well.
@Suite struct EventScenarioTests {
  private static let success: [TraceEvent.Kind] = [
    .willExecute, .didConfigure, .didIssue, .didReceive, .didValidateResponse, .didExtract, .didValidatePayload,
    .didComplete,
  ]
  private static let lostOnTheWay: [TraceEvent.Kind] = [.willExecute, .didConfigure, .didIssue, .didComplete]
  private static let neverIssued: [TraceEvent.Kind] = [.willExecute, .didConfigure, .didComplete]

  /// What one transaction left behind.
  private struct Story {
    let result: TransactionResult
    let entries: [LedgerEntry]

    var kinds: [TraceEvent.Kind] { entries.map(\.kind) }
    var code: String? { result.error?.code }

    func first(_ kind: TraceEvent.Kind) throws -> LedgerEntry { try #require(entries.first { $0.kind == kind }) }
    /// The phases of the last hop, as the end tells them.
    func timings() throws -> TransferTimings { try #require(first(.didComplete).timings) }
  }

  /// One request after the other on one engine, which is then shut down.
  private func tell(
    _ requests: [Request], _ change: (inout Configuration) -> Void = { _ in }
  ) async throws -> [Story] {
    let log = LedgerLog()
    var configuration = Configuration()
    configuration.transport.connectTimeout = Patience.limit
    change(&configuration)
    configuration.append(log.code, named: "ledger")
    let engine = try Engine(configuration)
    var results: [TransactionResult] = []
    for request in requests { results.append(await engine.transaction(request)) }
    await engine.shutdown()
    #expect(log.violation == nil)
    let entries = log.entries
    return results.map { result in Story(result: result, entries: entries.filter { $0.transaction == result.id }) }
  }

  private func tell(_ request: Request, _ change: (inout Configuration) -> Void = { _ in }) async throws -> Story {
    try #require(try await tell([request], change).first)
  }

  private func get(_ url: String) throws -> Request { Request(url: try HTTPURL(url)) }

  private func post(_ url: String, _ body: Body) throws -> Request {
    Request(method: "POST", url: try HTTPURL(url), body: body)
  }

  private func withServer(
    _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse = { _ in .text("abc") },
    _ body: (LoopbackServer) async throws -> Void
  ) async throws {
    let server = try LoopbackServer { handler($0) }
    defer { server.stop() }
    try await body(server)
  }

  private func withSecureServer(
    _ body: (NginxServer, TestCertificates, (inout Configuration) -> Void) async throws -> Void
  ) async throws {
    let certificates = try await TestCertificates.shared()
    let nginx = try await NginxServer.start(certificates: certificates)
    try await body(nginx, certificates) { $0.transport.tls.ca = certificates.authority }
  }

  // Whole transactions.

  @Test func `a success`() async throws {
    try await withServer { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.kinds == Self.success)
      #expect(try story.first(.didComplete).outcome == .succeeded)
    }
  }

  @Test func `a success by address looks up no name`() async throws {
    try await withServer { server in
      let story = try await tell(get("http://127.0.0.1:\(server.port)/"))
      #expect(try story.timings().nameLookup == .zero)
    }
  }

  @Test func `a success by name says how long the look-up took`() async throws {
    try await withServer { server in
      let story = try await tell(get("http://localhost:\(server.port)/"))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().nameLookup > .zero)
    }
  }

  @Test func `a success whose end is told to a closure has the same events`() async throws {
    try await withServer { server in
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.append(log.code, named: "ledger")
      let engine = try Engine(configuration)
      let ends = Watched(0)
      engine.submit(try get(server.baseURL + "/")) { _ in ends.update { $0 += 1 } }
      try await ends.wait { $0 == 1 }
      await engine.shutdown()
      #expect(log.kinds == Self.success)
    }
  }

  @Test func `a second request goes through the same events on the same connection`() async throws {
    try await withServer { server in
      let request = try get(server.baseURL + "/")
      let stories = try await tell([request, request])
      #expect(stories.map(\.kinds) == [Self.success, Self.success])
      #expect(try stories.map { try $0.timings().isConnectionReused } == [false, true])
    }
  }

  @Test func `a reused connection has no phase of connecting`() async throws {
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

  @Test func `a success over HTTP-2 has the same events`() async throws {
    try await withSecureServer { nginx, _, trust in
      let story = try await tell(get(nginx.secureBaseURL + "/"), trust)
      #expect(story.kinds == Self.success)
      #expect(try story.timings().version == .http2)
    }
  }

  @Test(arguments: [204, 200])
  func `an answer without content has the same events`(_ status: Int) async throws {
    try await withServer({ _ in ServerResponse(status: status) }) { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesReceived == 0)
    }
  }

  @Test func `an answer without content over HTTP-2 has the same events`() async throws {
    try await withSecureServer { nginx, _, trust in
      let story = try await tell(get(nginx.secureBaseURL + "/status/204"), trust)
      #expect(story.kinds == Self.success)
    }
  }

  @Test func `an answer to HEAD has the same events`() async throws {
    try await withServer { server in
      let story = try await tell(Request(method: "HEAD", url: HTTPURL(server.baseURL + "/")))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesReceived == 0)
    }
  }

  @Test func `an answer in chunks has the same events`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"))
    let story = try await tell(get(server.baseURL))
    #expect(story.kinds == Self.success)
    #expect(try story.timings().bytesReceived >= 5)
  }

  @Test func `an answer that the end of the connection ends has the same events`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"))
    let story = try await tell(get(server.baseURL))
    #expect(story.kinds == Self.success)
    #expect(story.result.response?.body.bytes == Array("abc".utf8))
  }

  @Test func `an answer in dribs and drabs has the same events, and takes its time receiving`() async throws {
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
  func `informational answers stand between issue and receipt`(_ count: Int) async throws {
    let hints = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: count)
    let server = try ScriptedServer(.receiveHead, .send(hints + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
    let story = try await tell(get(server.baseURL))
    let informational = Array(repeating: TraceEvent.Kind.didReceiveInformational, count: count)
    #expect(story.kinds == Self.success.prefix(3) + informational + Self.success.dropFirst(3))
    #expect(try story.first(.didReceiveInformational).status == 103)
    #expect(try story.first(.didReceive).status == 200)
  }

  // The wire fails.

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

  @Test func `a certificate that nobody vouches for fails before anything is issued`() async throws {
    try await withSecureServer { nginx, _, _ in
      let story = try await tell(get(nginx.secureBaseURL + "/"))
      #expect(story.code == "tls")
      #expect(story.kinds == Self.neverIssued)
    }
  }

  @Test func `TLS to a server that does not speak it fails before anything is issued`() async throws {
    let server = try ScriptedServer(.receive(1), .send("HTTP/1.1 400 Bad Request\r\n\r\n"))
    let story = try await tell(get("https://127.0.0.1:\(server.port)/"))
    #expect(story.code == "tls")
    #expect(story.kinds == Self.neverIssued)
  }

  @Test func `a proxy that refuses fails before anything is issued`() async throws {
    let proxy = try ScriptedServer(.receiveHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"))
    let story = try await tell(get("https://a.test/")) { $0.transport.proxy = proxy.baseURL }
    #expect(story.code == "proxy")
    #expect(story.kinds == Self.neverIssued)
  }

  @Test func `a request through a proxy has the same events`() async throws {
    let proxy = try ScriptedServer([ScriptStep.respond(body: "through")])
    let story = try await tell(get("http://a.test/x")) { $0.transport.proxy = proxy.baseURL }
    #expect(story.kinds == Self.success)
    #expect(try story.timings().peerAddress == "127.0.0.1")
    #expect(proxy.receivedText.first?.hasPrefix("GET http://a.test/x HTTP/1.1\r\n") == true)
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Le"])
  func `a connection that dies before the head has an issue and no receipt`(_ sent: String) async throws {
    let server = try ScriptedServer(.receiveHead, .send(sent), .reset)
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "connection_lost")
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `a connection that dies in the body has a receipt and fails`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"))
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "connection_lost")
    #expect(story.kinds == Self.lostOnTheWay.dropLast() + [.didReceive, .didComplete])
    #expect(try story.timings().bytesReceived == 3)
  }

  @Test func `what is not HTTP has an issue and no receipt`() async throws {
    let server = try ScriptedServer(.receiveHead, .send("SSH-2.0-OpenSSH_9.2\r\n"))
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "invalid_response")
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `an answer that is too large fails after its receipt`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\naaaaaaaa\r\n0\r\n\r\n"))
    let story = try await tell(get(server.baseURL)) { $0.transport.maxResponseBytes = 4 }
    #expect(story.code == "response_too_large")
    #expect(story.kinds == Self.lostOnTheWay.dropLast() + [.didReceive, .didComplete])
  }

  @Test func `content that does not decode fails after its receipt`() async throws {
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"))
    let story = try await tell(get(server.baseURL))
    #expect(story.code == "decoding")
    #expect(try story.first(.didComplete).outcome == .failed)
  }

  // Request bodies.

  @Test func `a body in memory is counted as sent`() async throws {
    try await withServer { server in
      let story = try await tell(post(server.baseURL + "/", .bytes([UInt8](repeating: 65, count: 100_000))))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesSent >= 100_000)
    }
  }

  @Test func `a streamed body is counted as sent`() async throws {
    try await withServer { server in
      let left = Locked(50)
      let body = BodyStream { _ in
        left.withLock {
          $0 -= 1; return $0 < 0 ? nil : [UInt8](repeating: 66, count: 1000)
        }
      }
      let story = try await tell(post(server.baseURL + "/", .stream(body)))
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesSent >= 50_000)
    }
  }

  @Test func `a body over HTTP-2 has the same events`() async throws {
    try await withSecureServer { nginx, _, trust in
      let story = try await tell(
        post(nginx.secureBaseURL + "/post", .bytes([UInt8](repeating: 65, count: 300_000))), trust)
      #expect(story.kinds == Self.success)
      #expect(try story.timings().bytesSent > 0)
    }
  }

  @Test func `a body that fails while it is sent ends after the issue, once`() async throws {
    struct Broken: Error {}
    let server = try ScriptedServer(.receiveToEnd)
    let left = Locked(3)
    let body = BodyStream { _ in
      try left.withLock { left throws(Broken) in
        left -= 1
        if left < 0 { throw Broken() }
      }
      return [UInt8](repeating: 66, count: 1000)
    }
    let story = try await tell(post(server.baseURL, .stream(body)))
    #expect(story.result.error != nil)
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `a server that goes away while the body is sent ends after the issue, once`() async throws {
    let server = try ScriptedServer(.receive(1000), .reset)
    let story = try await tell(post(server.baseURL, .bytes([UInt8](repeating: 65, count: 8 << 20))))
    #expect(story.code == "connection_lost")
    #expect(story.kinds == Self.lostOnTheWay)
  }

  @Test func `a file that is not there fails before anything is issued`() async throws {
    try await withServer { server in
      let story = try await tell(post(server.baseURL, .file(FileBody(path: "/nonexistent/body", byteCount: 3))))
      #expect(story.code == "body_file")
      #expect(!story.kinds.contains(.didIssue))
      #expect(server.requests.isEmpty)
    }
  }

  // Giving up.

  @Test func `B3: cancelled before it begins`() async throws {
    try await withServer { server in
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.append(log.code, named: "ledger")
      let engine = try Engine(configuration)
      let request = try get(server.baseURL + "/")
      let mayStart = Signal()
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        mayStart.set()
        return await engine.transaction(request)
      }
      task.cancel()
      #expect(await task.value.outcome == .cancelled)
      await engine.shutdown()
      #expect(log.violation == nil)
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `B3: cancelled while the server thinks, many times over`() async throws {
    try await withServer { server in
      server.hold()
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.append(log.code, named: "ledger")
      let engine = try Engine(configuration)
      let request = try get(server.baseURL + "/")
      let task = Task { await engine.transaction(request) }
      try await server.waitForHeld(1)
      for _ in 0..<5 { task.cancel() }
      #expect(await task.value.outcome == .cancelled)
      server.release()
      await engine.shutdown()
      #expect(log.kinds == Self.lostOnTheWay)
      #expect(log.entries.last?.outcome == .cancelled)
    }
  }

  @Test func `B3: cancelled in the middle of the body`() async throws {
    let done = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .wait(done))
    defer { done.set() }
    let log = LedgerLog()
    let received = Signal()
    var configuration = Configuration()
    configuration.append(log.code, named: "ledger")
    configuration.append(StageCode(trace: { if $0.kind == .didReceive { received.set() } }), named: "tells")
    let engine = try Engine(configuration)
    let request = try get(server.baseURL)
    let task = Task { await engine.transaction(request) }
    try await received.wait()
    task.cancel()
    #expect(await task.value.outcome == .cancelled)
    await engine.shutdown()
    #expect(log.kinds == Self.lostOnTheWay.dropLast() + [.didReceive, .didComplete])
  }

  @Test func `a time limit of the attempt ends it after the issue`() async throws {
    try await withServer { server in
      server.hold()
      defer { server.release() }
      let story = try await tell(get(server.baseURL + "/")) { $0.transport.timeout = .milliseconds(30) }
      #expect(story.code == "timeout")
      #expect(story.kinds == Self.lostOnTheWay)
    }
  }

  @Test func `a deadline that passes while a stage waits ends it before the issue`() async throws {
    try await withServer { server in
      var request = try get(server.baseURL + "/")
      request.timeout = .milliseconds(30)
      let never = Signal()
      let story = try await tell(request) {
        $0.append(StageCode(request: { _, _ in try await never.wait() }), named: "waits")
      }
      never.set()
      #expect(story.code == "deadline")
      #expect(story.kinds == [.willExecute, .didComplete])
    }
  }

  // Attempts.

  @Test func `every attempt issues anew, and the decision stands in between`() async throws {
    try await withServer { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.append(
          StageCode(response: { _, context in
            if context.attemptNumber == 0 { throw RetryRequestError(after: .milliseconds(1)) }
          }), named: "again")
      }
      #expect(
        story.kinds == [.willExecute, .didConfigure, .didIssue, .didReceive, .willRetry] + Self.success.dropFirst())
      #expect(try story.first(.willRetry).duration == .milliseconds(1))
      #expect(story.entries.map(\.attempt) == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    }
  }

  @Test func `a retry over the same connection says so`() async throws {
    try await withServer { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.append(
          StageCode(response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }),
          named: "again")
      }
      let receipts = story.entries.filter { $0.kind == .didReceive }
      #expect(receipts.map { $0.timings?.isConnectionReused } == [false, true])
    }
  }

  @Test func `a connection that died while idle is no failure of the request`() async throws {
    // The first connection is closed behind its answer; the second request finds that out, and gets another connection.
    let server = try ScriptedServer([ScriptStep.respond(body: "one"), ScriptStep.respond(body: "two")])
    let request = try get(server.baseURL)
    let stories = try await tell([request, request])
    #expect(
      stories.map { $0.result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } } == ["one", "two"])
    #expect(stories.map(\.kinds).first == Self.success)
    #expect(stories.last?.kinds.last == .didComplete)
  }

  @Test func `a stage that answers itself leaves out the wire`() async throws {
    let story = try await tell(get("http://127.0.0.1:1/")) {
      $0.append(StageCode(request: { _, _ in throw ResponseOverride(Response(status: 200)) }), named: "answers")
    }
    #expect(story.kinds == [.willExecute] + Self.success.dropFirst(4))
    #expect(try story.first(.didComplete).timings == nil)
  }

  @Test func `an HTTP error has a receipt and no validation`() async throws {
    try await withServer({ _ in ServerResponse(status: 404) }) { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.code == "http_status")
      #expect(story.kinds == Self.lostOnTheWay.dropLast() + [.didReceive, .didComplete])
      #expect(try story.first(.didReceive).status == 404)
    }
  }

  // The log as a whole.

  @Test func `one tracer hears as much as the other`() async throws {
    try await withServer { server in
      let other = LedgerLog()
      let story = try await tell(get(server.baseURL + "/")) { $0.append(other.code, named: "other") }
      #expect(other.entries == story.entries)
    }
  }

  @Test func `times never go back, and phases fit between the events`() async throws {
    try await withServer({ _ in .text(String(repeating: "x", count: 500_000)) }) { server in
      let story = try await tell(get("http://localhost:\(server.port)/"))
      #expect(zip(story.entries, story.entries.dropFirst()).allSatisfy { $0.time <= $1.time })
      let begin = try story.first(.didConfigure).time
      let end = try story.first(.didComplete).time
      #expect(try story.timings().total <= end.duration(since: begin))
    }
  }

  @Test func `all events of a transaction have one id and one request id`() async throws {
    try await withServer { server in
      let request = try get(server.baseURL + "/")
      let stories = try await tell([request, request])
      for story in stories { #expect(Set(story.entries.map(\.requestID)) == [story.result.requestID]) }
      #expect(Set(stories.map(\.result.id)).count == 2)
    }
  }

  @Test func `a hundred at once each have their own events in order`() async throws {
    try await withServer { server in
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.transport.loops = 2
      configuration.append(log.code, named: "ledger")
      let engine = try Engine(configuration)
      let request = try get(server.baseURL + "/")
      await withTaskGroup { group in
        for _ in 0..<100 { group.addTask { _ = await engine.transaction(request) } }
      }
      await engine.shutdown()
      #expect(log.violation == nil)
      let stories = Dictionary(grouping: log.entries, by: \.transaction).values
      #expect(stories.map { $0.map(\.kind) } == Array(repeating: Self.success, count: 100))
    }
  }
}
