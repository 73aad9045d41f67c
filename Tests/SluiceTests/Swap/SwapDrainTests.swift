import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Testing

/// How old builds end: by themselves, at the deadline, or not at all.
@Suite struct SwapDrainTests {
  private static func fixture(
    _ misbehaviour: StampedLibrary.Misbehaviour, drain: String, stageDeadline: String? = nil
  ) async throws -> (SwapFixture, StampedLibrary) {
    let old = try await StampedLibrary.inC(misbehaviour)
    let fixture = try SwapFixture(
      swap: #"{"drain": "\#(drain)", "probation": {"duration": "0s"}}"#, stageDeadline: stageDeadline
    ) { try old.install(1, at: $0.path("a.so")) }
    return (fixture, try await StampedLibrary.inC())
  }

  @Test func `a call that is suspended without a deadline is ended when the drain is over`() async throws {
    let (fixture, library) = try await Self.fixture(.suspends, drain: "50ms")
    let running = Task { try await fixture.engine.transaction(Request(url: fixture.url)) }
    try await fixture.waitForLine("token=")
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let error = try #require(await running.value.error)
    #expect(error.code == "stage_timeout" && error.stage == "a")
    #expect(error.message.contains("swap.drain"))
    try await fixture.waitForLine("destroyed=1")
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }

  @Test func `status shows which transaction keeps an old build, and its suspended call`() async throws {
    let (fixture, library) = try await Self.fixture(.suspends, drain: "1h")
    let running = Task { try await fixture.engine.transaction(Request(url: fixture.url)) }
    try await fixture.waitForLine("token=")
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let old = try #require(await fixture.engine.status.generations.first)
    #expect(old.state == .draining && old.leases == 1 && old.suspended == 1)
    let holder = try #require(old.holders.first)
    #expect(holder.suspendedIn == "a")
    running.cancel()
    let result = try await running.value
    #expect(result.id == holder.id && result.error?.code == "cancelled")
    try await fixture.waitForLine("destroyed=1")
    await fixture.shutdown()
  }

  @Test func `an old build that does not drain is parked as leaked, with its transactions, and never destroyed`()
    async throws
  {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(swap: #"{"drain": "0s", "probation": {"duration": "0s"}}"#) { folder in
      try library.install(1, at: folder.path("a.so"))
    }
    // The transaction is not suspended in a stage: it waits for its server, like a long download, while others come and
    // go.
    let slow = try LoopbackServer()
    slow.hold()
    let load = try SwapLoad(fixture)
    try await load.run()
    let url = try HTTPURL(slow.baseURL + "/")
    let running = Task { await fixture.engine.transaction(Request(url: url)) }
    try await slow.waitForHeld(1)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let status = try await fixture.waitForStatus("the old build to be parked") {
      $0.generations.first?.state.description == "parked"
    }
    let old = try #require(status.generations.first)
    #expect(old.state.reason?.contains("leaked") == true && old.leases == 1 && old.holders.count == 1)
    slow.release()
    // The transaction still finishes on the build on which it began.
    let result = await running.value
    #expect(result.error == nil && result.response?.headers["x-stamp-a"] == "1")
    #expect(result.id == old.holders.first?.id)
    #expect(try await fixture.stamp() == 2)
    #expect(fixture.lines("destroyed=1").isEmpty && fixture.lines("deactivated=1").isEmpty)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    slow.stop()
    await fixture.shutdown()
  }

  @Test func `a token of an ended build is stale, touches nothing and is counted`() async throws {
    let product = try await PluginCompiler.compile("resumes-late")
    let late = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(swap: #"{"drain": "10ms", "probation": {"duration": "0s"}}"#) { folder in
      try StampedLibrary.install(late, at: folder.path("a.so"))
    }
    let load = Task { try await fixture.engine.transaction(Request(url: fixture.url)) }
    try await fixture.waitForLine("suspended=1")
    // The new build has the same plugin name and file, so that the end of the old build can be seen.
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await load.value.error?.code == "stage_timeout")
    // The thread of the old build outlives it, waits for the end of the instance, and resumes.
    try await fixture.waitForStatus("the late resumption") { status in
      // The resumption comes while the build is being ended.
      status.generations.first?.violations == 2 && status.generations.first?.state.description == "parked"
    }
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }

  @Test func `tokens that are resumed twice, forged or too late touch nothing over swaps, and are counted`()
    async throws
  {
    let product = try await PluginCompiler.compile("resumes-twice")
    let twice = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    let library = try await StampedLibrary.inC()
    // One loop: the fixture keeps its last token in a variable.
    let fixture = try SwapFixture([("a", "a.so"), ("b", "b.so")], loops: 1) { folder in
      for file in ["a.so", "b.so"] { try library.install(1, at: folder.path(file)) }
    }
    let load = try SwapLoad(fixture)
    try await load.run()
    try StampedLibrary.install(twice, at: fixture.path("b.so"))
    #expect(try await fixture.engine.swap().outcome == .published)
    try await load.run()
    try library.install(2, at: fixture.path("b.so"))
    #expect(try await fixture.engine.swap().outcome == .published)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    #expect(fixture.server.requestCount == counts.succeeded)
    // Only the first resumption of each token gets OK (0).
    let calls = fixture.lines("first=0").count
    #expect(calls >= 20 && fixture.lines("first=").count == calls)
    for name in ["second", "forged", "forged-loop"] {
      #expect(fixture.lines("\(name)=").count == calls && fixture.lines("\(name)=0").isEmpty)
    }
    #expect(fixture.lines("late=1").count == calls && fixture.lines("late=0").isEmpty)
    let status = try await fixture.waitForStatus("the build to be parked") { status in
      status.generations.dropFirst(2).first?.state.description == "parked"
    }
    let violations = try #require(status.generations.dropFirst(2).first).violations
    #expect(violations >= 3 * calls, "\(violations) for \(calls) calls")
    #expect(status.generations.last?.violations == 0)
    await fixture.shutdown()
  }

  /// An engine in whose first build a call blocks, and that has already swapped it for the second.
  private func swapWhileBlocked(
    drain: String
  ) async throws -> (SwapFixture, Task<TransactionResult, any Error>, openGate: () throws -> Void) {
    let folder = try TemporaryDirectory()
    let gate = folder.path("gate")
    try #require(mkfifo(gate, 0o600) == 0)
    let product = try await PluginCompiler.compile("is-blocking", defines: ["GATE=\"\(gate)\""])
    let blocking = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(swap: #"{"drain": "\#(drain)", "probation": {"duration": "0s"}}"#) { folder in
      try StampedLibrary.install(blocking, at: folder.path("a.so"))
    }
    let running = Task { try await fixture.engine.transaction(Request(url: fixture.url)) }
    try await fixture.waitForLine("blocked=1")
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 2)
    return (
      fixture, running,
      {
        // The call has opened the other end, so this does not wait.
        let end = withExtendedLifetime(folder) { open(gate, O_WRONLY | O_CLOEXEC) }
        try #require(end >= 0)
        close(end)
      }
    )
  }

  @Test func `a call that blocks over a swap ends on its build, which ends after it`() async throws {
    let (fixture, running, openGate) = try await swapWhileBlocked(drain: "1h")
    let old = try #require(await fixture.engine.status.generations.first)
    #expect(old.state == .draining && old.leases == 1)
    try openGate()
    #expect(try await running.value.error == nil)
    #expect(fixture.lines("done=1").count == 1)
    let ended = try await fixture.waitForStatus("the old build to be parked") {
      $0.generations.first?.state.description == "parked"
    }
    #expect(ended.generations.first?.state.reason?.contains("leaked") == false)
    await fixture.shutdown()
  }

  @Test func `a call that blocks beyond the drain leaves its build leaked, and can still end`() async throws {
    let (fixture, running, openGate) = try await swapWhileBlocked(drain: "20ms")
    let status = try await fixture.waitForStatus("the old build to be parked") {
      $0.generations.first?.state.description == "parked"
    }
    #expect(status.generations.first?.state.reason?.contains("leaked") == true)
    #expect(try await fixture.stamp() == 2)
    try openGate()
    _ = try await running.value
    try await fixture.waitForLine("done=1")
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }

  @Test func `in swap after swap each build ends after its running calls`() async throws {
    let (fixture, library) = try await Self.fixture(.nothing, drain: "1h")
    let load = try SwapLoad(fixture)
    for number in 2...4 {
      try await load.run(5)
      try library.install(number, at: fixture.path())
      #expect(try await fixture.engine.swap().outcome == .published)
    }
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0)
    // All calls on each build have ended, and each build has ended after them.
    for number in 1...3 { try await fixture.waitForLine("destroyed=\(number)") }
    await fixture.shutdown()
  }
}
