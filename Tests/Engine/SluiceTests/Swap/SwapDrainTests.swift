import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// How old builds end: when their transactions are over, when the drain is over, or never.
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

  @Test func `an old build that does not drain is parked as leaked, keeps its transactions, and is never destroyed`()
    async throws
  {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(swap: #"{"drain": "0s", "probation": {"duration": "0s"}}"#) { folder in
      try library.install(1, at: folder.path("a.so"))
    }
    // The transaction is not suspended in a stage. It waits for its server, like a long download, while other
    // transactions begin and end.
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

  @Test func `a resumption by a build that has ended is stale, has no effect and is counted`() async throws {
    let product = try await PluginCompiler.compile("resumes-late")
    let late = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(swap: #"{"drain": "10ms", "probation": {"duration": "0s"}}"#) { folder in
      try StampedLibrary.install(late, at: folder.path("a.so"))
    }
    let load = Task { try await fixture.engine.transaction(Request(url: fixture.url)) }
    try await fixture.waitForLine("suspended=1")
    // The new build keeps the plugin's name and file, so the status still shows the end of the old build.
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await load.value.error?.code == "stage_timeout")
    // A thread of the old build waits for the end of its instance, and then resumes the token.
    try await fixture.waitForStatus("the late resumption") { status in
      // The resumption can come while the build is being ended.
      status.generations.first?.violations == 2 && status.generations.first?.state.description == "parked"
    }
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }

  @Test func `during swaps, tokens that are forged or resumed twice or too late have no effect and are counted`()
    async throws
  {
    let product = try await PluginCompiler.compile("resumes-twice")
    let twice = try withExtendedLifetime(product) { try FileTree.read(product.path) }
    let library = try await StampedLibrary.inC()
    // There is one loop, because the fixture keeps its last token in a variable without a lock.
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

  /// Makes an engine that has swapped to build 2 while a call on build 1 blocks.
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
        // The blocked call has opened the FIFO for reading, so this call does not wait.
        let end = withExtendedLifetime(folder) { open(gate, O_WRONLY | O_CLOEXEC) }
        try #require(end >= 0)
        close(end)
      }
    )
  }

  @Test func `a call that blocks during a swap ends on its build, and then the build ends`() async throws {
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

  @Test func `a call that blocks longer than the drain leaks its build, and can still end`() async throws {
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

  @Test func `in a series of swaps each build ends after its running calls`() async throws {
    let (fixture, library) = try await Self.fixture(.nothing, drain: "1h")
    let load = try SwapLoad(fixture)
    for number in 2...4 {
      try await load.run(5)
      try library.install(number, at: fixture.path())
      #expect(try await fixture.engine.swap().outcome == .published)
    }
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0)
    // Each of the replaced builds ends, because all calls on it have ended.
    for number in 1...3 { try await fixture.waitForLine("destroyed=\(number)") }
    await fixture.shutdown()
  }
}
