import Sluice
import SluiceTestKit
import Testing

/// New snapshots on probation, and the rollback.
@Suite struct ProbationTests {
  private static let long = #"{"probation": {"duration": "1h", "transactions": 20}}"#

  private static func fixture(_ swap: String = long) async throws -> (SwapFixture, StampedLibrary) {
    let library = try await StampedLibrary.inC()
    return (try SwapFixture(swap: swap) { try library.install(1, at: $0.path("a.so")) }, library)
  }

  @Test(arguments: [StampedLibrary.Misbehaviour.failsRequests, .breaksRules])
  func `a build that fails in service is replaced by the previous build, and then refused`(
    _ misbehaviour: StampedLibrary.Misbehaviour
  ) async throws {
    let (fixture, library) = try await Self.fixture()
    for _ in 0..<50 { #expect(try await fixture.stamp() == 1) }
    let bad = try await StampedLibrary.inC(misbehaviour)
    try bad.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let load = try SwapLoad(fixture)
    let status = try await fixture.waitForStatus("the return") { $0.history.last?.outcome == .rolledBack }
    _ = await load.stop()
    let report = try #require(status.history.last)
    #expect(report.outcome == .rolledBack && report.trigger == .probation && report.snapshot == 1)
    #expect(report.changes.first?.old?.generation == 2 && report.changes.first?.new?.generation == 1)
    #expect(report.reason?.contains("with the previous snapshot") == true)
    #expect(try await fixture.stamp() == 1)
    // The bad instance was ended, and the previous one was not.
    try await fixture.waitForLine("destroyed=2")
    #expect(fixture.lines("deactivated=1").isEmpty && fixture.lines("activated=1").count == 1)
    // The same content is refused, and a good build is accepted.
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("is refused because it failed in service") == true)
    let refused = await fixture.engine.status.refused
    #expect(refused.count == 1 && refused.keys.first == report.changes.first?.old?.hash)
    let project = try #require(FileTree.names(in: fixture.path("store/refused")).first)
    let file = fixture.path("store/refused/\(project)/\(refused.keys.first ?? "")")
    #expect(FileTree.exists(file))
    #expect(error?.report.reason?.contains("to use it nevertheless, remove \(file)") == true)
    try library.install(3, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 3)
    let text = fixture.engine.prometheusText()
    for (outcome, count) in [("published", 2), ("rolled-back", 1), ("refused", 1), ("cancelled", 0)] {
      #expect(text.contains("\nsluice_engine_swaps_total{outcome=\"\(outcome)\"} \(count)\n"), "\(text)")
    }
    #expect(fixture.engine.metricsDocument()["engine"]?["swaps"]?["rolled-back"] == 1)
    await fixture.shutdown()
  }

  /// The new build suspends each request and never resumes it.
  @Test(arguments: ["skip", "fail"])
  func `a build whose calls miss their deadline is replaced by the previous one, under load`(
    _ onFault: String
  ) async throws {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(swap: Self.long, stageDeadline: "20ms", onFault: onFault) { folder in
      try library.install(1, at: folder.path("a.so"))
    }
    let load = try SwapLoad(fixture)
    try await load.run(50)
    try await StampedLibrary.inC(.suspends).install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let status = try await fixture.waitForStatus("the return") { $0.history.last?.outcome == .rolledBack }
    let report = try #require(status.history.last)
    #expect(report.outcome == .rolledBack && report.trigger == .probation)
    #expect(report.changes.first?.old?.generation == 2 && report.changes.first?.new?.generation == 1)
    let reason = try #require(report.reason)
    #expect(reason.contains("missed deadlines per 100 transactions"), "\(reason)")
    #expect(reason.contains("of its transactions failed") == (onFault == "fail"), "\(reason)")
    // Calls that were suspended on the bad build stayed on this build and ended at their deadline.
    try await fixture.waitForLine("destroyed=2")
    let bad = try await fixture.waitForStatus("the bad build to be parked") {
      $0.generations.last?.state.description == "parked"
    }.generations.last
    #expect(bad?.state.reason?.contains("leaked") == false && bad?.leases == 0 && bad?.suspended == 0)
    #expect(try await fixture.stamp() == 1)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.torn == 0)
    if onFault == "skip" {
      #expect(counts.failures.isEmpty, "\(counts)")
    } else {
      // Requests failed only because the new build missed deadlines.
      #expect(!counts.failures.isEmpty)
      #expect(counts.failures.allSatisfy { $0.contains("deadline") }, "\(counts)")
    }
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("is refused because it failed in service") == true)
    #expect(error?.report.reason?.contains("missed deadlines") == true, "\(String(describing: error))")
    await fixture.shutdown()
  }

  @Test func `a refused build stays refused after a restart, until refusals are cleared`() async throws {
    let (fixture, library) = try await Self.fixture()
    let hash = try #require(await fixture.engine.status.generations.first?.hash)
    try fixture.engine.refuse(hash: hash, because: "the moon fell")
    await fixture.shutdown()

    let log = Watched<[LogLine]>([])
    let engine = try Engine(SwapFixture.configuration([("a", "a.so")], in: fixture.folder)) { line in
      log.update { $0.append(line) }
    }
    #expect(log.value.contains { $0.level == .warning && $0.message.contains("the moon fell") })
    try library.install(2, at: fixture.path())
    #expect(try await engine.swap().outcome == .published)
    try library.install(1, at: fixture.path())
    await #expect(throws: SwapError.self) { try await engine.swap() }
    try engine.clearRefusals(hash: hash)
    #expect(try await engine.swap().outcome == .published)
    #expect(await engine.status.refused.isEmpty)
    await engine.shutdown()
  }

  @Test func `a snapshot that passes its probation ends the previous one`() async throws {
    let (fixture, library) = try await Self.fixture(#"{"probation": {"duration": "300ms", "transactions": 1}}"#)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let status = await fixture.engine.status
    #expect(status.generations.map(\.state) == [.standby, .probation])
    #expect(status.probation?.standby == 1)
    #expect(fixture.lines("deactivated=1").isEmpty)
    try await fixture.waitForLine("has passed its probation")
    try await fixture.waitForLine("destroyed=1")
    #expect(await fixture.engine.status.generations.last?.state == .active)
    await fixture.shutdown()
  }

  @Test func `a rollback by command loads nothing while the previous snapshot is on standby`() async throws {
    let (fixture, library) = try await Self.fixture()
    let load = try SwapLoad(fixture)
    try await load.run()
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let report = try await fixture.engine.rollback()
    #expect(report.outcome == .published && report.trigger == .rollback && report.snapshot == 1)
    #expect(try await fixture.stamp() == 1)
    #expect(fixture.lines("activated=1").count == 1 && fixture.lines("deactivated=1").isEmpty)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0)
    try await fixture.waitForLine("destroyed=2")
    let status = await fixture.engine.status
    #expect(status.budget.used == 2 && status.refused.isEmpty && status.probation == nil)
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.rollback() }
    #expect(error?.report.reason?.contains("there is no snapshot to return to") == true)
    // The file still has build 2, and a swap loads it again.
    #expect(try await fixture.engine.swap().outcome == .published)
    await fixture.shutdown()
  }

  @Test func `a rollback after the end of the previous snapshot loads its builds from their copies`() async throws {
    let (fixture, library) = try await Self.fixture(#"{"probation": {"duration": "0s"}}"#)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    try await fixture.waitForLine("destroyed=1")
    let report = try await fixture.engine.rollback()
    #expect(report.outcome == .published && report.snapshot == 3)
    let change = try #require(report.changes.first)
    #expect(change.new?.generation == 3 && change.library == fixture.path())
    #expect(try await fixture.stamp() == 1)
    await fixture.shutdown()
  }

  @Test func `a rollback to a build whose copy was removed fails at once and names the copy`() async throws {
    let (fixture, library) = try await Self.fixture(#"{"probation": {"duration": "0s"}}"#)
    let hash = try #require(await fixture.engine.status.generations.first?.hash)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    try await fixture.waitForLine("destroyed=1")
    let copy = fixture.path("store/\(hash)/1/plugin.so")
    #expect(FileTree.exists(copy))
    FileTree.remove(copy)
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.rollback() }
    let reason = try #require(error?.report.reason)
    #expect(reason.contains("plugin \"a\" at \(fixture.path()): cannot be loaded again from \(copy)"), "\(reason)")
    #expect(reason.contains("do not change the store") && !reason.contains("check the key"), "\(reason)")
    #expect(fixture.lines("trying again for about two seconds").isEmpty)
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }

  @Test func `a swap during probation replaces the probation, and ends the snapshot on standby`() async throws {
    let (fixture, library) = try await Self.fixture()
    for number in 2...3 {
      try library.install(number, at: fixture.path())
      #expect(try await fixture.engine.swap().outcome == .published)
    }
    try await fixture.waitForLine("destroyed=1")
    let expected = ["parked", "standby", "probation"]
    _ = try await fixture.waitForStatus("the states \(expected)") {
      $0.generations.map(\.state.description) == expected
    }
    #expect(try await fixture.engine.rollback().snapshot == 2)
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }
}
