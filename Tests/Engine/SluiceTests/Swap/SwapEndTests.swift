import SluicePipeline
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

@testable import Sluice

/// The end of a probation, or of the engine, while another snapshot is being published.
@Suite struct SwapEndTests {
  private let library: StampedLibrary

  init() async throws { library = try await StampedLibrary.inC() }

  /// Returns an engine with build 2 published and build 1 on standby.
  private func fixture() async throws -> SwapFixture {
    // The limits are long. A publication therefore waits for a held loop, no matter how long the test takes.
    let fixture = try SwapFixture(swap: #"{"probation": {"duration": "1h"}, "publish": "1h"}"#) { folder in
      try library.install(1, at: folder.path("a.so"))
    }
    #expect(try await fixture.stamp() == 1)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 2)
    return fixture
  }

  @Test func `a rollback ends the probation before any loop takes the old snapshot`() async throws {
    let fixture = try await fixture()
    let loop = try await HeldLoop(fixture.engine)
    defer { loop.letGo() }
    let back = Task { try await fixture.engine.rollback() }
    let status = try await fixture.waitForStatus("the rollback to begin") { $0.probation == nil }
    #expect(status.snapshot == 2)
    loop.letGo()
    #expect(try await back.value.outcome == .published)
    #expect(try await fixture.stamp() == 1)
    let end = try await fixture.waitForStatus("build 2's end") { $0.generations.last?.state.reason != nil }
    #expect(end.serving("a")?.id == 1)
    #expect(fixture.lines("has passed its probation").isEmpty && fixture.lines("destroyed=1").isEmpty)
    await fixture.shutdown()
  }

  @Test func `a shutdown in the middle of a publication ends old and new instances`() async throws {
    let fixture = try await fixture()
    let loop = try await HeldLoop(fixture.engine)
    defer { loop.letGo() }
    try library.install(3, at: fixture.path())
    let swap = Task { try await fixture.engine.swap() }
    let swaps = fixture.engine.swaps
    while swaps.state.withLock({ $0.machine.newest.snapshot == $0.machine.served }) { await Task.yield() }
    let end = Task { await fixture.engine.shutdown() }
    while !swaps.state.withLock({ $0.isClosed }) { await Task.yield() }
    loop.letGo()
    await end.value
    _ = await swap.result
    for word in ["deactivated", "destroyed"] {
      #expect(fixture.lines("\(word)=").sorted() == ["\(word)=1", "\(word)=2", "\(word)=3"])
    }
    fixture.server.stop()
  }

  @Test func `after the shutdown, the metrics include counts from before a swap`() async throws {
    let fixture = try await fixture()
    #expect(fixture.engine.metrics().completed == 2)
    await fixture.shutdown()
    #expect(fixture.engine.metrics().completed == 2)
  }
}
