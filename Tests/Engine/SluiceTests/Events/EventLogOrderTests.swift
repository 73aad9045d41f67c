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

/// Order and ids of events in the whole event log.
@Suite struct EventLogOrderTests: EventScenario {
  @Test func `two tracers get the same events`() async throws {
    try await withServer { server in
      let other = LedgerLog()
      let story = try await tell(get(server.baseURL + "/")) { $0.addStage("other", other.code) }
      #expect(other.entries == story.entries)
    }
  }

  @Test func `the times of events never go back, and the phases fit between the events`() async throws {
    try await withServer({ _ in .text(String(repeating: "x", count: 500_000)) }) { server in
      let story = try await tell(get("http://localhost:\(server.port)/"))
      #expect(zip(story.entries, story.entries.dropFirst()).allSatisfy { $0.time <= $1.time })
      let begin = try story.first(.didConfigure).time
      let end = try story.first(.didComplete).time
      #expect(try story.timings().total <= end.duration(since: begin))
    }
  }

  @Test func `all events of a transaction have the same id and the same request id`() async throws {
    try await withServer { server in
      let request = try get(server.baseURL + "/")
      let stories = try await tell([request, request])
      for story in stories { #expect(Set(story.entries.map(\.requestID)) == [story.result.requestID]) }
      #expect(Set(stories.map(\.result.id)).count == 2)
    }
  }

  @Test func `each of a hundred concurrent transactions has its own events in order`() async throws {
    try await withServer { server in
      let log = LedgerLog()
      var configuration = Configuration()
      configuration.transport.loops = 2
      configuration.addStage("ledger", log.code)
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

  @Test func `a tracer that acts only on did_complete gets it for every transaction`() async throws {
    try await withServer { server in
      let ends = Watched(0)
      let requests = [try get(server.baseURL + "/"), try get("http://127.0.0.1:1/"), try get(server.baseURL + "/")]
      let stories = try await tell(requests) {
        $0.addStage("ends", StageCode(observing: { if $0.kind == .didComplete { ends.update { $0 += 1 } } }))
      }
      #expect(stories.map { $0.kinds.count { $0 == .didComplete } } == [1, 1, 1])
      #expect(ends.value == 3)
    }
  }

  @Test func `a request that a stage makes has its own events`() async throws {
    try await withServer { server in
      let engine = Locked<Engine?>(nil)
      let log = LedgerLog()
      var configuration = Configuration()
      let inner = try get(server.baseURL + "/inner")
      configuration.addStage(
        "asks",
        StageCode(request: { request, context in
          guard context.path == "/outer", let engine = engine.withLock({ $0 }) else { return }
          request.headers["x-inner"] = "\(await engine.transaction(inner).status ?? 0)"
        }))
      configuration.addStage("ledger", log.code)
      let made = try Engine(configuration)
      engine.withLock { $0 = made }
      let outer = await made.transaction(try get(server.baseURL + "/outer"))
      engine.withLock { $0 = nil }
      await made.shutdown()
      #expect(outer.error == nil)
      #expect(server.requests.last?.value(of: "x-inner") == "200")
      #expect(log.violation == nil)
      let stories = Dictionary(grouping: log.entries, by: \.transaction)
      #expect(stories.count == 2)
      #expect(stories.values.allSatisfy { $0.map(\.kind) == Self.success })
    }
  }
}
