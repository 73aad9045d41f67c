import Sluice
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// The events and phases of transactions that are cancelled or time out.
@Suite struct EventEndTests: EventScenario {
  @Test func `a transaction is cancelled before it begins`() async throws {
    try await withServer { server in
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.addStage("ledger", log.code)
      let engine = try Engine(configuration)
      let request = try get(server.baseURL + "/")
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return await engine.transaction(request)
      }
      task.cancel()
      #expect(await task.value.outcome == .cancelled)
      await engine.shutdown()
      #expect(log.violation == nil)
      #expect(server.requests.isEmpty)
    }
  }

  @Test func `a transaction that is cancelled five times while it waits for a response ends once`() async throws {
    try await withServer { server in
      server.hold()
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.addStage("ledger", log.code)
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

  @Test func `a transaction is cancelled in the middle of the response body`() async throws {
    let done = Signal()
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .wait(done))
    defer { done.set() }
    let log = LedgerLog()
    let received = Signal()
    var configuration = Configuration()
    configuration.addStage("ledger", log.code)
    configuration.addStage("tells", StageCode(observing: { if $0.kind == .didReceive { received.set() } }))
    let engine = try Engine(configuration)
    let request = try get(server.baseURL)
    let task = Task { await engine.transaction(request) }
    try await received.wait()
    task.cancel()
    #expect(await task.value.outcome == .cancelled)
    await engine.shutdown()
    #expect(log.kinds == Self.lostInTheBody)
  }

  @Test func `the time limit of an attempt ends it after did_issue`() async throws {
    try await withServer { server in
      server.hold()
      defer { server.release() }
      let story = try await tellWithinLimits(reaching: .didIssue) { limit in
        try await tell(get(server.baseURL + "/")) { $0.transport.timeout = limit }
      }
      #expect(story.code == "timeout")
      #expect(story.kinds == Self.lostOnTheWay)
    }
  }

  @Test func `a deadline that passes in the middle of the body ends the transaction after did_receive`() async throws {
    let done = Signal()
    defer { done.set() }
    let server = try ScriptedServer(
      .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .wait(done))
    let story = try await tellWithinLimits(reaching: .didReceive) { limit in
      var request = try get(server.baseURL)
      request.timeout = limit
      return try await tell(request)
    }
    #expect(story.code == "deadline")
    #expect(story.kinds == Self.lostInTheBody)
    #expect(try story.timings().bytesReceived == 3)
  }

  /// Runs a transaction with a time limit. Repeats it with longer limits until the transaction has the given event in
  /// time.
  private func tellWithinLimits(
    reaching kind: TraceEvent.Kind, _ tell: (Duration) async throws -> Story
  ) async throws -> Story {
    var limit = Duration.milliseconds(30)
    while true {
      let story = try await tell(limit)
      if story.kinds.contains(kind) || limit > Patience.limit { return story }
      limit *= 4
    }
  }

  @Test func `a deadline that passes while a stage waits ends the transaction before did_issue`() async throws {
    try await withServer { server in
      var request = try get(server.baseURL + "/")
      request.timeout = .milliseconds(30)
      let never = Signal()
      let story = try await tell(request) {
        $0.addStage("waits", StageCode(request: { _, _ in try await never.wait() }))
      }
      never.set()
      #expect(story.code == "deadline")
      #expect(story.kinds == [.willExecute, .didComplete])
    }
  }

  @Test func `a transaction is cancelled before it begins to connect`() async throws {
    let log = LedgerLog()
    let cancellation = Cancellation()
    var configuration = Configuration()
    configuration.addStage(
      "cancels", StageCode(observing: { if $0.kind == .didConfigure { cancellation.cancel() } }))
    configuration.addStage("ledger", log.code)
    let engine = try Engine(configuration)
    let ends = ResultLog()
    engine.submit(try get("http://no-such-host.invalid/"), cancellation: cancellation) { ends.append($0) }
    await engine.shutdown()
    #expect(ends.codes == ["cancelled"])
    #expect(log.violation == nil)
    #expect(log.kinds == Self.neverIssued)
  }

  @Test func `a transaction is cancelled while it connects`() async throws {
    let listener = try FullListener()
    try await withServer { server in
      let other = try get(server.baseURL + "/")
      let story = try await tellCancelled(
        get("http://127.0.0.1:\(listener.port)/"),
        when: { engine in
          // The engine's only loop has run once, so the transactions that were submitted before are connecting.
          #expect(await engine.transaction(other).error == nil)
        })
      #expect(story.kinds == Self.neverIssued)
    }
  }

  @Test func `a transaction is cancelled in the TLS handshake`() async throws {
    let (hasBegun, done) = (Signal(), Signal())
    defer { done.set() }
    let server = try ScriptedServer(.receive(1), .signal(hasBegun), .wait(done))
    let story = try await tellCancelled(
      get("https://127.0.0.1:\(server.port)/"),
      when: { _ in
        try await hasBegun.wait()
      })
    #expect(story.kinds == Self.neverIssued)
  }

  @Test func `a transaction is cancelled while its body is sent`() async throws {
    let (hasBegun, done) = (Signal(), Signal())
    defer { done.set() }
    let server = try ScriptedServer(.receiveHead, .signal(hasBegun), .wait(done))
    let request = try post(server.baseURL, .bytes([UInt8](repeating: 65, count: 64 << 20)))
    let story = try await tellCancelled(request, when: { _ in try await hasBegun.wait() })
    #expect(story.kinds == Self.lostOnTheWay)
    #expect(try story.timings().receive == .zero)
  }

  @Test func `a transaction is cancelled while a request stage waits`() async throws {
    let hasBegun = Signal()
    let story = try await tellCancelled(get("http://127.0.0.1:1/")) {
      $0.addStage(
        "waits",
        StageCode(request: { _, _ in
          hasBegun.set()
          try await untilCancelled()
        }))
    } when: { _ in
      try await hasBegun.wait()
    }
    #expect(story.kinds == [.willExecute, .didComplete])
  }

  @Test func `a transaction is cancelled while a response stage waits`() async throws {
    try await withServer { server in
      let hasBegun = Signal()
      let story = try await tellCancelled(get(server.baseURL + "/")) {
        $0.addStage(
          "waits",
          StageCode(response: { _, _ in
            hasBegun.set()
            try await untilCancelled()
          }))
      } when: { _ in
        try await hasBegun.wait()
      }
      #expect(story.kinds == Self.lostInTheBody)
    }
  }

  @Test func `a transaction is cancelled while it waits for its next attempt`() async throws {
    try await withServer { server in
      let story = try await tellCancelled(get(server.baseURL + "/"), after: .willRetry) {
        $0.addStage(
          "again", StageCode(response: { _, _ in throw RetryRequestError(after: .seconds(3600)) }))
      }
      #expect(
        story.kinds == [.willExecute, .didConfigure, .didIssue, .didReceive, .didEndHop, .willRetry, .didComplete])
      #expect(server.requestCount == 1)
    }
  }

  @Test func `cancelling an ended transaction changes nothing`() async throws {
    try await withServer { server in
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.addStage("ledger", log.code)
      let engine = try Engine(configuration)
      let cancellation = Cancellation()
      let ends = Watched(0)
      engine.submit(try get(server.baseURL + "/"), cancellation: cancellation) { _ in ends.update { $0 += 1 } }
      try await ends.wait { $0 == 1 }
      for _ in 0..<3 { cancellation.cancel() }
      await engine.shutdown()
      #expect(ends.value == 1)
      #expect(log.kinds == Self.success)
    }
  }

  @Test func `a shutdown ends transactions that connect or wait for their next attempt`() async throws {
    let listener = try FullListener()
    try await withServer { server in
      let log = LedgerLog()
      let isWaiting = Signal()
      var configuration = Configuration()
      configuration.deadline = nil
      configuration.transport.loops = 1
      configuration.transport.connectTimeout = Patience.limit
      configuration.addStage(
        "again",
        StageCode(
          response: { _, _ in throw RetryRequestError(after: .seconds(3600)) },
          trace: { if $0.kind == .willRetry { isWaiting.set() } }))
      configuration.addStage("ledger", log.code)
      let engine = try Engine(configuration)
      let ends = ResultLog()
      engine.submit(try get("http://127.0.0.1:\(listener.port)/")) { ends.append($0) }
      engine.submit(try get(server.baseURL + "/")) { ends.append($0) }
      try await isWaiting.wait()
      await engine.shutdown(drain: .zero)
      #expect(ends.codes == ["shutdown", "shutdown"])
      #expect(log.violation == nil)
      #expect(log.kinds.count { $0 == .willExecute } == 2 && log.kinds.count { $0 == .didComplete } == 2)
    }
  }
}
