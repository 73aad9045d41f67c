import Sluice
import SluiceMessages
import SluicePluginHost
import SluiceTestKit
import SluiceTestServers
import SluiceTrial
import Testing

/// Swaps that are requested while another swap runs, that are cancelled, or that end with the engine.
@Suite struct SwapOrderTests {
  /// A trial that passes a library while `isOpen` is true, and otherwise waits. It fails if its task is cancelled.
  private struct Gate: LibraryTrial {
    let arrived = Watched(0)
    let isOpen = Watched(true)

    func examine(_ candidate: TrialCandidate) async throws(PluginError) {
      arrived.update { $0 += 1 }
      do { try await isOpen.wait { $0 } } catch {
        throw PluginError(.loadFailed, .plugin(name: nil, path: candidate.path), "the trial was given up")
      }
    }
  }

  private static func fixture(
    _ plugins: [(name: String, library: String)] = [("a", "a.so")]
  ) async throws -> (SwapFixture, StampedLibrary, Gate) {
    let (library, gate) = (try await StampedLibrary.inC(), Gate())
    let fixture = try SwapFixture(plugins, trial: gate) { folder in
      for (_, file) in plugins { try library.install(1, at: folder.path(file)) }
    }
    gate.isOpen.update { $0 = false }
    gate.arrived.update { $0 = 0 }
    return (fixture, library, gate)
  }

  private static func outcome(_ task: Task<SwapReport, any Error>) async -> SwapReport.Outcome? {
    do { return try await task.value.outcome } catch { return (error as? SwapError)?.report.outcome }
  }

  private static func ask(_ fixture: SwapFixture, _ plugins: [String]?) -> Task<SwapReport, any Error> {
    Task { try await fixture.engine.swap(plugins: plugins) }
  }

  @Test func `the newest waiting swap supersedes older ones, and a rollback goes first`() async throws {
    let (fixture, library, gate) = try await Self.fixture()
    let load = try SwapLoad(fixture)
    try library.install(2, at: fixture.path())
    let first = Self.ask(fixture, nil)
    try await gate.arrived.wait { $0 == 1 }
    try library.install(3, at: fixture.path())
    let second = Self.ask(fixture, ["a"])
    try await fixture.waitForStatus("one that waits") { $0.queued == 1 }
    let third = Self.ask(fixture, nil)
    #expect(await Self.outcome(second) == .superseded)
    let back = Task { try await fixture.engine.rollback() }
    try await fixture.waitForStatus("two that wait") { $0.queued == 2 }
    gate.isOpen.update { $0 = true }
    #expect(await Self.outcome(first) == .published)
    #expect(await Self.outcome(back) == .published)
    #expect(await Self.outcome(third) == .published)
    #expect(await fixture.engine.status.history.map(\.trigger) == [.swap, .swap, .rollback, .swap])
    #expect(try await fixture.stamp() == 3)
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0)
    await fixture.shutdown()
  }

  @Test func `swaps of different libraries are both performed`() async throws {
    let (fixture, library, gate) = try await Self.fixture([("a", "a.so"), ("b", "b.so")])
    for file in ["a.so", "b.so"] { try library.install(2, at: fixture.path(file)) }
    let first = Self.ask(fixture, ["a"])
    try await gate.arrived.wait { $0 == 1 }
    let second = Self.ask(fixture, ["b"])
    gate.isOpen.update { $0 = true }
    #expect(await Self.outcome(first) == .published)
    #expect(await Self.outcome(second) == .published)
    #expect(try await fixture.stamp(of: "b") == 2)
    await fixture.shutdown()
  }

  @Test func `cancelling the task that requested a swap cancels the swap, before and while it runs`() async throws {
    let (fixture, library, gate) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    let running = Self.ask(fixture, nil)
    try await gate.arrived.wait { $0 == 1 }
    let waiting = Self.ask(fixture, nil)
    try await fixture.waitForStatus("one that waits") { $0.queued == 1 }
    waiting.cancel()
    #expect(await Self.outcome(waiting) == .cancelled)
    running.cancel()
    #expect(await Self.outcome(running) == .cancelled)
    #expect(await fixture.engine.status.budget.used == 1)
    #expect(try await fixture.stamp() == 1)
    gate.isOpen.update { $0 = true }
    #expect(try await fixture.engine.swap().outcome == .published)
    await fixture.shutdown()
  }

  @Test func `the end of the engine ends swaps, including the running one`() async throws {
    let (fixture, library, gate) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    let running = Self.ask(fixture, nil)
    try await gate.arrived.wait { $0 == 1 }
    let waiting = Self.ask(fixture, nil)
    try await fixture.waitForStatus("one that waits") { $0.queued == 1 }
    await fixture.shutdown()
    #expect(await Self.outcome(running) == .shutdown)
    #expect(await Self.outcome(waiting) == .shutdown)
    #expect(await Self.outcome(Self.ask(fixture, nil)) == .shutdown)
    #expect(fixture.lines("destroyed=1").count == 1)
    let status = await fixture.engine.status
    #expect(status.snapshot == 1 && status.history.count == 3)
  }

  @Test func `if the engine ends during a swap, running requests finish on their build`() async throws {
    let (fixture, library, gate) = try await Self.fixture()
    fixture.server.hold()
    let request = Request(url: try fixture.url)
    let flights = (0..<8).map { _ in Task { await fixture.engine.transaction(request) } }
    try await fixture.server.waitForHeld(8)
    try library.install(2, at: fixture.path())
    let running = Self.ask(fixture, nil)
    try await gate.arrived.wait { $0 == 1 }
    let ending = Task { await fixture.engine.shutdown() }
    #expect(await Self.outcome(running) == .shutdown)
    #expect(await fixture.engine.transaction(request).error?.code == "shutdown")
    fixture.server.release()
    for flight in flights {
      let result = await flight.value
      #expect(result.error == nil && result.response?.headers["x-stamp-a"] == "1")
      #expect(result.response?.headers["x-echo-a"] == "1")
    }
    await ending.value
    #expect(fixture.server.requestCount == 8)
    await fixture.shutdown()
  }
}
