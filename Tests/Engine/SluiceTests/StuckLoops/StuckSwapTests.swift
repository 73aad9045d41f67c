import Sluice
import SluiceJSON
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import SluiceAssembly

/// Swaps while a stage blocks its loop.
@Suite struct StuckSwapTests {
  @Test(arguments: [1, 4])
  func `if a loop is stuck, a swap and a rollback are published on the other loops and name the stuck loop`(
    _ loops: Int
  ) async throws {
    let fixture = try await StuckFixture(loops: loops, probation: "1h")
    let trapped = try await fixture.trapped()
    try fixture.install(2)
    let swap = try await fixture.engine.swap()
    #expect(swap.outcome == .published && swap.snapshot == 2)
    let late = try #require(swap.late.first)
    #expect(swap.late.count == 1 && late.call?.plugin == "a" && late.call?.callback == "on_request")
    #expect(late.call?.generation == 1 && !late.hasDied && late.age >= .milliseconds(100))
    let reason = "not on loop \(late.loop): loop \(late.loop) has been in on_request of \"a\""
    #expect(swap.reason?.contains(reason) == true)
    let status = await fixture.engine.status
    let wait = try #require(status.waits.first { $0.purpose == .publication })
    #expect(wait.snapshot == 2 && wait.obstacle.loop == late.loop && wait.obstacle.call == late.call)
    #expect(status.document()["waits"]?[0]?["callback"]?.string == "on_request")
    if loops > 1 { #expect(try await fixture.stamp() == 2) }
    let back = try await fixture.engine.rollback()
    #expect(back.outcome == .published && back.snapshot == 1 && back.late.map(\.loop) == [late.loop])
    if loops > 1 { #expect(try await fixture.stamp() == 1) }
    try fixture.openGate()
    try await trapped.wait(for: "the end of the call") { !$0.isEmpty }
    #expect(trapped.value.map(\.error) == [nil])
    try await fixture.waitForStatus("the late loop") { $0.waits.isEmpty }
    for _ in 0..<loops { #expect(try await fixture.stamp() == 1) }
    #expect(await fixture.engine.end(drain: .seconds(30), deactivation: .seconds(5)).isEmpty)
    fixture.server.stop()
  }

  @Test func `a stuck loop that continues takes the newest of several snapshots, and then its old snapshot ends`()
    async throws
  {
    let fixture = try await StuckFixture(loops: 2)
    let trapped = try await fixture.trapped()
    for number in 2...4 {
      try fixture.install(number)
      #expect(try await fixture.engine.swap().late.count == 1)
    }
    #expect(try await fixture.stamp() == 4)
    // Snapshots 2 and 3 end, although the stuck loop never took them.
    let held = try await fixture.waitForStatus("the end of snapshots 2 and 3") { status in
      status.generations.map(\.state.description) == ["draining", "parked", "parked", "active"]
        && status.replaced.used == 1
    }
    #expect(!held.waits.isEmpty && fixture.lines("leaked").isEmpty)
    try fixture.openGate()
    try await trapped.wait(for: "the end of the call") { !$0.isEmpty }
    try await fixture.waitForStatus("the end of the first snapshot") {
      $0.generations.first?.state.description == "parked"
    }
    for _ in 0..<2 { #expect(try await fixture.stamp() == 4) }
    #expect(await fixture.engine.end(drain: .seconds(30), deactivation: .seconds(5)).isEmpty)
    #expect(fixture.lines("destroyed=1").count == 4)
    fixture.server.stop()
  }

  @Test func `a loop whose thread a stage has ended is reported, and nothing waits for it`() async throws {
    let fixture = try await StuckFixture(loops: 2)
    let trapped = try await fixture.trapped("exit")
    try await trapped.wait(for: "the result") { !$0.isEmpty }
    let error = try #require(trapped.value.first?.error)
    #expect(error.code == "stalled" && error.stage == "a" && error.message.contains("pthread_exit"))
    try await fixture.log.wait(for: "the line") { lines in
      lines.contains { $0.message.contains("was ended with pthread_exit in on_request of \"a\"") }
    }
    try fixture.install(2)
    let swap = try await fixture.engine.swap()
    #expect(swap.outcome == .published && swap.late.isEmpty)
    for _ in 0..<4 { #expect(try await fixture.stamp() == 2) }
    try await fixture.waitForStatus("the end of the first build") { $0.generations.first?.state.reason != nil }
    await fixture.engine.shutdown(drain: .milliseconds(10))
    #expect(trapped.value.count == 1)
    fixture.server.stop()
  }
}
