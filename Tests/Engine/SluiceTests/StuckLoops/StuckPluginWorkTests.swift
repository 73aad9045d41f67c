import Sluice
import SluiceJSON
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// Work that does not belong to a transaction, and SERIAL plugins, while a stage blocks one of two loops.
@Suite struct StuckPluginWorkTests {
  @Test func `scheduled work of a stuck loop continues on the other loop`() async throws {
    let fixture = try await StuckFixture(loops: 2, besides: "uses-any-loop")
    _ = try await fixture.trapped()
    for name in ["one", "two"] {
      let count = fixture.runs(of: name)
      try await fixture.log.wait(for: "ten more calls of \(name)") { _ in fixture.runs(of: name) >= count + 10 }
    }
    try fixture.openGate()
    await fixture.engine.shutdown()
    fixture.server.stop()
  }

  @Test func `timers and call-outs that any loop can run are finished by the other loop`() async throws {
    let fixture = try await StuckFixture(loops: 2, besides: "uses-any-loop")
    _ = try await fixture.trapped()
    // The watchdog has not found the stuck loop yet, so half of the work goes to it.
    let result = await fixture.engine.notify(topic: "start")
    #expect(result.outcome == .ended(.newData))
    try await fixture.log.wait(for: "all timers and call-outs") { lines in
      lines.count { $0.message == "timer=1" } >= 4 && lines.count { $0.message == "call=1" } >= 4
    }
    try fixture.openGate()
    await fixture.engine.shutdown()
    #expect(fixture.lines("timer=1").count == 4 && fixture.lines("call=1").count == 4)
    fixture.server.stop()
  }

  @Test func `a notification misses its deadline although its loop is stuck`() async throws {
    let fixture = try await StuckFixture(loops: 2, besides: "uses-any-loop")
    _ = try await fixture.trapped()
    for _ in 0..<2 {
      let result = await fixture.engine.notify(topic: "keep", deadline: .milliseconds(50))
      #expect(result.outcome == .ended(.missedDeadline))
    }
    try fixture.openGate()
    await fixture.engine.shutdown()
    fixture.server.stop()
  }

  @Test func `a SERIAL plugin whose call does not return does not block the other loop`() async throws {
    let fixture = try await StuckFixture(loops: 2, isSerial: true)
    let trapped = try await fixture.trapped()
    // Each event of a transaction is a call that cannot be suspended until the turn is free.
    let results = try await withThrowingTaskGroup(of: TransactionResult.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var request = try fixture.request()
          request.timeout = .milliseconds(500)
          return await fixture.engine.transaction(request)
        }
      }
      return try await group.reduce(into: [TransactionResult]()) { $0.append($1) }
    }
    #expect(results.count == 4 && results.allSatisfy { $0.error != nil })
    #expect(trapped.value.isEmpty)
    try fixture.openGate()
    try await trapped.wait(for: "the end of the call") { !$0.isEmpty }
    #expect(try await fixture.stamp() == 1)
    await fixture.engine.shutdown()
    fixture.server.stop()
  }
}
