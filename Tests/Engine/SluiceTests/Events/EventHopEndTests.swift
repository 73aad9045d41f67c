import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The facts in the event `did_end_hop`: reason, duration and bytes.
@Suite struct EventHopEndTests: EventScenario {
  private func ends(_ story: Story) -> [LedgerEntry] { story.entries.filter { $0.kind == .didEndHop } }

  private func end(_ story: Story) throws -> LedgerEntry {
    #expect(ends(story).count == 1)
    return try #require(ends(story).first)
  }

  @Test func `did_end_hop of a successful hop agrees with did_complete`() async throws {
    try await withServer({ _ in .text(String(repeating: "x", count: 100_000)) }) { server in
      let story = try await tell(post(server.baseURL + "/", .bytes([UInt8](repeating: 65, count: 5000))))
      let end = try end(story)
      #expect(end.errorCode == nil && end.status == 200)
      let timings = try #require(end.timings)
      #expect(timings == story.result.timings)
      #expect(timings.bytesReceived == 100_000)
      #expect((5000..<6000).contains(timings.bytesSent))
      #expect(end.duration >= timings.total - .milliseconds(1))
      #expect(try end.duration <= story.first(.didComplete).duration)
    }
  }

  @Test func `a refused connection ends its hop with the error`() async throws {
    let story = try await tell(get("http://127.0.0.1:\(Loopback.freePort())/"))
    let end = try end(story)
    #expect(end.errorCode == "connect" && end.status == 0)
    let timings = try #require(end.timings)
    #expect(timings.bytesSent == 0 && timings.bytesReceived == 0 && timings.wait == .zero)
  }

  @Test(.enabled(if: NginxServer.isAvailable)) func `a TLS handshake that fails ends its hop with the error`()
    async throws
  {
    try await withSecureServer { nginx, _, _ in
      let story = try await tell(get(nginx.secureBaseURL + "/"))
      let end = try end(story)
      #expect(end.errorCode == "tls")
      #expect(try #require(end.timings).bytesReceived == 0)
      #expect(end.duration > .zero)
    }
  }

  @Test func `each hop of a redirect ends with its own status, phases and bytes`() async throws {
    try await withServer({ request in
      guard request.target == "/a" else { return .text("there") }
      return ServerResponse(status: 302, headers: [HeaderLine("Location", "/b?\(String(repeating: "q", count: 500))")])
    }) { server in
      let story = try await tell(get(server.baseURL + "/a"))
      let ends = ends(story)
      #expect(ends.map(\.hop) == [0, 1])
      #expect(ends.map(\.status) == [302, 200])
      #expect(ends.map(\.errorCode) == [nil, nil])
      let timings = ends.compactMap(\.timings)
      #expect(timings.map(\.isConnectionReused) == [false, true])
      #expect(timings.map(\.bytesReceived) == [0, 5])
      #expect(timings.last.map(\.bytesSent) ?? 0 > timings.first.map(\.bytesSent) ?? .max)
      let issues = story.entries.filter { $0.kind == .didIssue }
      for (end, issue) in zip(ends, issues) { #expect(end.duration >= end.time.duration(since: issue.time)) }
    }
  }

  @Test func `if a connection dies while a stage decides about a redirect, the hop ends before will_redirect`()
    async throws
  {
    let (isAsked, hasEnded) = (Signal(), Signal())
    let server = try ScriptedServer([
      [
        .receiveHead, .send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 10\r\n\r\n"), .wait(isAsked), .reset,
      ],
      ScriptStep.respond(body: "there"),
    ])
    let story = try await tell(get(server.baseURL + "/a")) {
      $0.addStage(
        "thinks",
        StageCode(
          redirect: { _, _, _ in
            isAsked.set()
            try await hasEnded.wait()
            return .follow
          }, trace: { if $0.kind == .didEndHop { hasEnded.set() } }))
    }
    #expect(story.result.error == nil)
    #expect(story.kinds.prefix(6) == [.willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .willRedirect])
    #expect(Array(story.kinds.dropFirst(6)) == Array(Self.success.dropFirst(2)))
    #expect(ends(story).map(\.errorCode) == ["connection_lost", nil])
    #expect(ends(story).map(\.status) == [302, 200])
  }

  @Test func `each attempt ends its hop before the retry is reported`() async throws {
    try await withServer({ _ in ServerResponse(status: 503, body: .bytes(Array("busy".utf8))) }) { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.retry = .standard
        $0.maximumAttempts = 2
        $0.retry.backoff = Backoff(base: .milliseconds(1), maximum: .milliseconds(2))
      }
      #expect(ends(story).map(\.attempt) == [0, 1])
      #expect(ends(story).map(\.status) == [503, 503])
      // An error status of the server is not an error of the hop.
      #expect(ends(story).map(\.errorCode) == [nil, nil])
      let pairs = zip(story.kinds, story.kinds.dropFirst())
      #expect(pairs.filter { $0.1 == .willRetry }.map(\.0) == [.didEndHop])
    }
  }

  @Test func `a cancellation in the body ends the hop before did_complete, and did_end_hop has the received bytes`()
    async throws
  {
    let done = Signal()
    defer { done.set() }
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .wait(done))
    let story = try await tellCancelled(get(server.baseURL), after: .didReceive)
    let end = try end(story)
    #expect(end.errorCode == "cancelled" && end.errorStage == nil && end.status == 200)
    #expect(try #require(end.timings).bytesReceived <= 3)
    #expect(try #require(end.timings).bytesSent > 0)
    #expect(story.kinds.suffix(2) == [.didEndHop, .didComplete])
  }

  @Test func `the timeout of an attempt ends its hop`() async throws {
    try await withServer { server in
      server.hold()
      defer { server.release() }
      let story = try await tell(get(server.baseURL + "/")) { $0.transport.timeout = .milliseconds(100) }
      let end = try end(story)
      #expect(end.errorCode == "timeout" && end.status == 0)
      // The timeout counts from the start of the attempt, which is before the start of its hop.
      let whole = try story.first(.didComplete).duration
      #expect(whole >= .milliseconds(100))
      #expect(end.duration > .zero && end.duration < whole)
      #expect(try #require(end.timings).bytesReceived == 0)
    }
  }

  @Test func `a transaction whose request stage responds or fails has no did_end_hop`() async throws {
    let answered = try await tell(get("http://127.0.0.1:1/")) {
      $0.addStage("answers", StageCode(request: { request, _ in request.respond(status: 200) }))
    }
    #expect(ends(answered).isEmpty)
    let failed = try await tell(get("http://127.0.0.1:1/")) {
      $0.addStage("fails", StageCode(request: { _, _ in throw StageFailure(code: "no", message: "") }))
    }
    #expect(ends(failed).isEmpty)
  }

  @Test func `did_end_hop has the server's status, even if a stage has changed the status`() async throws {
    try await withServer({ _ in ServerResponse(status: 500) }) { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.addStage("changes", StageCode(response: { response, _ in response.status = 203 }))
      }
      #expect(try end(story).status == 500)
      #expect(try story.first(.didComplete).status == 203)
    }
  }

  @Test func `a plugin in C gets did_end_hop with its bytes, even if nothing was issued`() async throws {
    try await withServer { server in
      let port = try Loopback.freePort()
      for (url, code, received) in [(server.baseURL + "/", "", 3), ("http://127.0.0.1:\(port)/", "connect", 0)] {
        for delivery in [#", "deadline": "60s""#, #", "delivery": "queued""#] {
          let (_, events) = try await HopTracer(plugin: delivery).run(url)
          let end = try #require(events.first { $0["kind"] == "12" })
          #expect(end["code"] == code)
          #expect(try end.number("received") == received)
          #expect(try end.number("sent") >= received)
          #expect(try end.number("took") > 0)
        }
      }
    }
  }
}
