import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestServers
import Testing

/// The events and phases of retries, of redirects and of responses that stages make.
@Suite struct EventAttemptTests: EventScenario {
  @Test func `a retry is reported between the attempts, and each attempt is issued`() async throws {
    try await withServer { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.addStage(
          "again",
          StageCode(response: { _, context in
            if context.attemptNumber == 0 { throw RetryRequestError(after: .milliseconds(1)) }
          }))
      }
      #expect(
        story.kinds
          == [.willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .willRetry] + Self.success.dropFirst())
      #expect(try story.first(.willRetry).duration == .milliseconds(1))
      #expect(story.entries.map(\.attempt) == [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    }
  }

  @Test func `a retry over the same connection reports that the connection is reused`() async throws {
    try await withServer { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.addStage(
          "again", StageCode(response: { _, context in if context.attemptNumber == 0 { throw RetryRequestError() } }))
      }
      let receipts = story.entries.filter { $0.kind == .didReceive }
      #expect(receipts.map { $0.timings?.isConnectionReused } == [false, true])
    }
  }

  @Test func `a connection that died while idle does not fail the request`() async throws {
    // The server closes the first connection after its response. The second request notices this and gets another
    // connection.
    let server = try ScriptedServer([ScriptStep.respond(body: "one"), ScriptStep.respond(body: "two")])
    let request = try get(server.baseURL)
    let stories = try await tell([request, request])
    #expect(
      stories.map { $0.result.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } } == ["one", "two"])
    #expect(stories.map(\.kinds).first == Self.success)
    #expect(stories.last?.kinds.last == .didComplete)
  }

  @Test func `if a request stage responds, there are no events of the wire`() async throws {
    let story = try await tell(get("http://127.0.0.1:1/")) {
      $0.addStage("answers", StageCode(request: { request, _ in request.respond(status: 200) }))
    }
    #expect(story.kinds == [.willExecute] + Self.validated)
    #expect(try story.first(.didComplete).timings == nil)
  }

  @Test func `an HTTP error has a did_receive and no validation`() async throws {
    try await withServer({ _ in ServerResponse(status: 404) }) { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.code == "http_status")
      #expect(story.kinds == Self.lostInTheBody)
      #expect(try story.first(.didReceive).status == 404)
    }
  }

  @Test func `the wait before the next attempt is reported before the wait begins, and the attempt begins no earlier`()
    async throws
  {
    try await withServer { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.addStage(
          "again",
          StageCode(response: { _, context in
            if context.attemptNumber < 2 { throw RetryRequestError(after: .milliseconds(20)) }
          }))
      }
      let pairs = zip(story.entries, story.entries.dropFirst()).filter { $0.0.kind == .willRetry }
      #expect(pairs.map { $0.1.kind } == [.didConfigure, .didConfigure])
      #expect(pairs.allSatisfy { $0.1.time >= $0.0.time + .milliseconds(20) })
      #expect(pairs.map { $0.0.attempt } == [0, 1])
    }
  }

  @Test func `if all attempts are used up, the transaction ends with the error of the last one`() async throws {
    try await withServer({ _ in ServerResponse(status: 503) }) { server in
      let story = try await tell(get(server.baseURL + "/")) { Self.repeats(&$0) }
      let attempt: [TraceEvent.Kind] = [.didConfigure, .didIssue, .didReceive, .didEndHop]
      #expect(
        story.kinds == [.willExecute] + attempt + [.willRetry] + attempt + [.willRetry] + attempt + [.didComplete])
      #expect(story.entries.filter { $0.kind == .willRetry }.map(\.errorCode) == ["http_status", "http_status"])
      #expect(try story.first(.didComplete).errorCode == "http_status")
    }
  }

  @Test func `attempts whose connection fails are retried without a did_issue`() async throws {
    let port = try Loopback.freePort()
    let story = try await tell(get("http://127.0.0.1:\(port)/")) { Self.repeats(&$0) }
    #expect(
      story.kinds == [
        .willExecute, .didConfigure, .didEndHop, .willRetry, .didConfigure, .didEndHop, .willRetry, .didConfigure,
        .didEndHop, .didComplete,
      ])
    #expect(story.entries.filter { $0.kind == .willRetry }.map(\.errorCode) == ["connect", "connect"])
  }

  private static func repeats(_ configuration: inout Configuration) {
    configuration.retry = .standard
    configuration.maximumAttempts = 3
    configuration.retry.backoff = Backoff(base: .milliseconds(1), maximum: .milliseconds(2))
  }

  @Test func `a redirect is reported between did_receive and did_issue, with the phases of its hop`() async throws {
    try await withServer({ request in
      switch request.target {
      case "/a": ServerResponse(status: 302, headers: [HeaderLine("Location", "/b")])
      case "/b": ServerResponse(status: 307, headers: [HeaderLine("Location", "/c")])
      default: .text("there")
      }
    }) { server in
      let story = try await tell(get(server.baseURL + "/a"))
      let hop: [TraceEvent.Kind] = [.didIssue, .didReceive, .willRedirect, .didEndHop]
      #expect(
        story.kinds == [.willExecute, .didConfigure] + hop + hop + [.didIssue, .didReceive, .didEndHop] + Self.validated
      )
      #expect(story.entries.filter { $0.kind == .didReceive }.map(\.status) == [302, 307, 200])
      #expect(story.entries.filter { $0.kind == .didIssue }.map(\.hop) == [0, 1, 2])
      let receipts = story.entries.filter { $0.kind == .didReceive }
      #expect(receipts.compactMap { $0.timings?.isConnectionReused } == [false, true, true])
      #expect(receipts.dropFirst().allSatisfy { $0.timings?.connect == .zero })
    }
  }

  @Test func `a redirect to another server opens a new connection`() async throws {
    try await withServer { other in
      let elsewhere = other.baseURL + "/there"
      try await withServer({ _ in ServerResponse(status: 302, headers: [HeaderLine("Location", elsewhere)]) }) {
        server in
        let story = try await tell(get(server.baseURL + "/"))
        let receipts = story.entries.filter { $0.kind == .didReceive }
        #expect(receipts.compactMap { $0.timings?.isConnectionReused } == [false, false])
        #expect(receipts.allSatisfy { ($0.timings?.connect ?? .zero) > .zero })
        #expect(story.kinds.last == .didComplete && story.result.finalURL?.string == elsewhere)
      }
    }
  }

  @Test func `a redirect to an address without a listener ends without another did_issue`() async throws {
    let nowhere = "http://127.0.0.1:\(try Loopback.freePort())/"
    try await withServer({ _ in ServerResponse(status: 302, headers: [HeaderLine("Location", nowhere)]) }) { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.code == "connect")
      #expect(
        story.kinds == [
          .willExecute, .didConfigure, .didIssue, .didReceive, .willRedirect, .didEndHop, .didEndHop, .didComplete,
        ])
    }
  }

  @Test func `a refused redirect has a did_receive, but no will_redirect`() async throws {
    try await withServer({ _ in
      ServerResponse(status: 302, headers: [HeaderLine("Location", "file:///x")], body: .bytes(Array("moved".utf8)))
    }) { server in
      let story = try await tell(get(server.baseURL + "/"))
      #expect(story.code == "redirect_refused")
      #expect(story.kinds == Self.lostInTheBody)
    }
  }

  @Test func `endless redirects are reported up to the limit, and the transaction ends once`() async throws {
    try await withServer({ request in
      ServerResponse(status: 302, headers: [HeaderLine("Location", "/\(request.target.utf8.count)/\(request.target)")])
    }) { server in
      let story = try await tell(get(server.baseURL + "/a"))
      #expect(story.code == "too_many_redirects")
      #expect(story.kinds.count { $0 == .didIssue } == 21)
      #expect(story.kinds.count { $0 == .didReceive } == 21)
      #expect(story.kinds.count { $0 == .didComplete } == 1)
    }
  }

  @Test func `a challenge that is answered is one more hop of the attempt`() async throws {
    try await withServer({ request in
      guard request.value(of: "authorization") == nil else { return .text("in") }
      return ServerResponse(status: 401, headers: [HeaderLine("WWW-Authenticate", "Basic realm=\"r\"")])
    }) { server in
      let story = try await tell(get(server.baseURL + "/")) {
        $0.addStage(
          "answers", StageCode(challenge: { _, _, _ in .answer("Basic dTpw") }))
      }
      #expect(
        story.kinds.filter { $0 == .didIssue || $0 == .didReceive } == [.didIssue, .didReceive, .didIssue, .didReceive])
      #expect(story.entries.filter { $0.kind == .didReceive }.map(\.status) == [401, 200])
      #expect(Set(story.entries.map(\.attempt)) == [0])
    }
  }
}
