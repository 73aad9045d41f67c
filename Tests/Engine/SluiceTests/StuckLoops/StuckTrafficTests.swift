import Sluice
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// Requests, and the end of the engine, while a stage blocks its loop.
@Suite struct StuckTrafficTests {
  @Test func `new transactions, and transactions that waited for a stuck loop, go to working loops`()
    async throws
  {
    let fixture = try await StuckFixture(loops: 2)
    let trapped = try await fixture.trapped()
    // Half of the first transactions are posted to the stuck loop, because the watchdog has not noticed it yet.
    let stamps = try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<40 { group.addTask { try await fixture.stamp() } }
      return try await group.reduce(into: [Int?]()) { $0.append($1) }
    }
    #expect(stamps == Array(repeating: 1, count: 40))
    #expect(trapped.value.isEmpty)
    try fixture.openGate()
    try await trapped.wait(for: "the end of the call") { !$0.isEmpty }
    #expect(trapped.value.map(\.error) == [nil])
    await fixture.engine.shutdown()
    fixture.server.stop()
  }

  @Test func `a transaction on a loop that is stuck for too long fails once, with stalled`() async throws {
    let fixture = try await StuckFixture(loops: 1, abandon: "100ms")
    let trapped = try await fixture.trapped()
    let waiting = await fixture.engine.transaction(try fixture.request())
    #expect(waiting.error?.code == "stalled" && waiting.error?.isBeforeSending == true && waiting.attempts == 0)
    try await trapped.wait(for: "the result") { !$0.isEmpty }
    let result = try #require(trapped.value.first)
    let error = try #require(result.error)
    #expect(error.code == "stalled" && error.stage == "a" && result.attempts == 1)
    #expect(error.message.contains("has been in on_request of \"a\" (fixture, generation 1)"))
    #expect(result.requestID == "\(result.id)" && result.duration >= .milliseconds(100))
    try fixture.openGate()
    try await fixture.waitForStamp()
    await fixture.engine.shutdown()
    #expect(trapped.value.count == 1)
    fixture.server.stop()
  }

  @Test func `a transaction on a stuck loop fails at its deadline`() async throws {
    let fixture = try await StuckFixture(loops: 1, deadline: "100ms")
    let trapped = try await fixture.trapped()
    try await trapped.wait(for: "the result") { !$0.isEmpty }
    #expect(trapped.value.first?.error?.code == "stalled")
    try fixture.openGate()
    await fixture.engine.shutdown()
    #expect(trapped.value.count == 1)
    fixture.server.stop()
  }

  @Test func `a caller that cancels gets its result although the loop is stuck`() async throws {
    let fixture = try await StuckFixture(loops: 1)
    let cancellation = Cancellation()
    let trapped = try await fixture.trapped(cancellation: cancellation)
    cancellation.cancel()
    try await trapped.wait(for: "the result") { !$0.isEmpty }
    #expect(trapped.value.first?.error?.code == "cancelled" && trapped.value.first?.outcome == .cancelled)
    try fixture.openGate()
    await fixture.engine.shutdown()
    #expect(trapped.value.count == 1)
    fixture.server.stop()
  }

  @Test(arguments: [1, 4])
  func `a drain ends in time with a result for each transaction, and names the stuck loop`(
    _ loops: Int
  ) async throws {
    let fixture = try await StuckFixture(loops: loops)
    let trapped = try await fixture.trapped()
    let obstacles = await fixture.engine.end(drain: .milliseconds(50), deactivation: .milliseconds(50))
    let obstacle = try #require(obstacles.first)
    #expect(obstacles.count == 1 && obstacle.call?.plugin == "a" && obstacle.call?.callback == "on_request")
    #expect(trapped.value.map(\.error?.code) == ["stalled"])
    #expect(!fixture.lines("the engine ended without one of its loops: loop \(obstacle.loop)").isEmpty)
    // The instance is not destroyed, because the call might still run in it.
    #expect(fixture.lines("destroyed=1").isEmpty)
    #expect(!fixture.lines("\"a\": neither deactivated nor destroyed").isEmpty)
    try fixture.openGate()
    #expect(trapped.value.count == 1)
    fixture.server.stop()
  }

  @Test func `the result of a drain that ends early says how long the loop was stuck, not how long the drain may take`()
    async throws
  {
    let fixture = try await StuckFixture(loops: 1, abandon: "50ms")
    let trapped = try await fixture.trapped()
    try await trapped.wait(for: "the result") { !$0.isEmpty }
    let obstacles = await fixture.engine.end(drain: .seconds(100_000), deactivation: .milliseconds(50))
    let age = try #require(obstacles.first?.age)
    #expect(age < .seconds(50_000))
    try fixture.openGate()
    fixture.server.stop()
  }
}
