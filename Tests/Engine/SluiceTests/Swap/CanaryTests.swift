@testable import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceSupport
import SluiceTestKit
import Testing

/// New builds that serve a part of the transactions.
@Suite struct CanaryTests {
  private static func swap(steps: String = "[50]", hold: String = "1h", more: String = "") -> String {
    #"{"probation": {"duration": "0s"}, "canary": {"steps": \#(steps), "hold": "\#(hold)"\#(more)}}"#
  }

  private static func fixture(_ swap: String = swap()) async throws -> (SwapFixture, StampedLibrary) {
    let library = try await StampedLibrary.inC()
    return (try SwapFixture(swap: swap) { try library.install(1, at: $0.path("a.so")) }, library)
  }

  /// Sends requests, and returns how many the second build served.
  private static func shareOfSecond(_ fixture: SwapFixture, of count: Int) async throws -> Int {
    var second = 0
    for _ in 0..<count {
      let stamp = try #require(try await fixture.stamp())
      #expect(stamp == 1 || stamp == 2)
      if stamp == 2 { second += 1 }
    }
    return second
  }

  @Test func `a canary serves a part of the transactions, and all of them after its promotion`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    let report = try await fixture.engine.swap()
    #expect(report.outcome == .canary && report.snapshot == 1 && report.canary?.percent == 50)
    #expect(report.description.hasPrefix("swap 1: snapshot 2 serves 50 % (\"a\" "), "\(report)")
    // The probability of a smaller or larger number is below 1e-9.
    #expect((130...270).contains(try await Self.shareOfSecond(fixture, of: 400)))
    let status = await fixture.engine.status
    #expect(status.generations.map(\.state) == [.active, .canary])
    #expect(status.canary.map { $0.candidate.counts.ended + $0.control.counts.ended } == 400)
    let promotion = try await fixture.engine.promoteCanary()
    #expect(promotion.outcome == .published && promotion.trigger == .canary && promotion.snapshot == 2)
    #expect(promotion.changes.first?.new?.generation == 2)
    let reason = promotion.reason ?? ""
    #expect(reason.hasPrefix("promoted by command; only "), "\(reason)")
    #expect(reason.hasSuffix(" of the 400 requests of a step were compared"), "\(reason)")
    for _ in 0..<20 { #expect(try await fixture.stamp() == 2) }
    try await fixture.waitForLine("destroyed=1")
    #expect(await fixture.engine.status.canary == nil)
    await fixture.shutdown()
  }

  @Test func `a good build passes all steps by itself, and no transaction is lost`() async throws {
    let (fixture, library) = try await Self.fixture(
      Self.swap(steps: "[10, 50]", hold: "0s", more: #", "transactions": 100, "latency": false"#))
    let load = try SwapLoad(fixture)
    try await load.run()
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .canary)
    let status = try await fixture.waitForStatus("the promotion") { $0.history.last?.outcome == .published }
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    #expect(status.history.map(\.outcome) == [.canary, .canary, .published])
    #expect(status.history.map { $0.canary?.percent } == [10, 50, nil])
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }

  @Test func `steps that end without enough transactions say so`() async throws {
    let (fixture, library) = try await Self.fixture(Self.swap(hold: "0s", more: #", "onSilence": "promote""#))
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    let status = try await fixture.waitForStatus("the promotion") { $0.history.last?.outcome == .published }
    let reason = status.history.last?.reason
    #expect(reason == "only 0 of the 400 requests of a step were compared", "\(String(describing: reason))")
    await fixture.shutdown()
  }

  @Test(arguments: [StampedLibrary.Misbehaviour.failsRequests, .breaksRules])
  func `a canary that fails more often than the other build is ended and refused`(
    _ misbehaviour: StampedLibrary.Misbehaviour
  ) async throws {
    let (fixture, _) = try await Self.fixture()
    try await StampedLibrary.inC(misbehaviour).install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .canary)
    let load = try SwapLoad(fixture)
    let status = try await fixture.waitForStatus("the end of the canary") { $0.history.last?.outcome == .rolledBack }
    _ = await load.stop()
    let report = try #require(status.history.last)
    #expect(report.trigger == .canary && report.snapshot == 1 && report.endedCanary == 2)
    #expect(report.changes.first?.old?.generation == 2 && report.changes.first?.new?.generation == 1)
    #expect(report.reason?.hasPrefix("failed ") == true && report.reason?.contains(" against 0 of ") == true)
    for _ in 0..<50 { #expect(try await fixture.stamp() == 1) }
    try await fixture.waitForLine("destroyed=2")
    #expect(fixture.lines("deactivated=1").isEmpty)
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("is refused because it failed in service: failed ") == true)
    await fixture.shutdown()
  }

  @Test func `transactions with the same value of the header get the same build in every step`() async throws {
    let (fixture, library) = try await Self.fixture(
      Self.swap(steps: "[30, 60]", more: #", "by": {"header": "x-user"}"#))
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .canary)
    func builds() async throws -> [String?] {
      var builds: [String?] = []
      for user in 0..<100 {
        let request = Request(url: try fixture.url, headers: ["X-User": "user-\(user)"])
        builds.append(try await fixture.engine.perform(request).headers["x-stamp-a"])
      }
      return builds
    }
    let first = try await builds()
    #expect(try await builds() == first)
    #expect(await fixture.engine.swaps.decide { .step($0) }.0.outcome == .canary)
    let second = try await builds()
    #expect(second.count { $0 == "2" } > first.count { $0 == "2" })
    #expect(zip(first, second).allSatisfy { $0 != "2" || $1 == "2" })
    await fixture.shutdown()
  }

  @Test func `an operator can end a canary, and its build is refused`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    let report = try await fixture.engine.abortCanary()
    #expect(report.outcome == .rolledBack && report.reason == "ended by command", "\(report)")
    #expect(try await Self.shareOfSecond(fixture, of: 30) == 0)
    await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    await fixture.shutdown()
  }

  @Test func `a rollback ends a canary without refusing its build`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    let report = try await fixture.engine.rollback()
    #expect(report.endedCanary == 2 && report.reason == "this ended the canary of snapshot 2", "\(report)")
    #expect(try await Self.shareOfSecond(fixture, of: 30) == 0)
    #expect(try await fixture.engine.swap().outcome == .canary)
    await fixture.shutdown()
  }

  @Test func `a reload is published at once, and says that it ended the canary`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    let report = try await fixture.engine.reload(fixture.engine.configuration)
    #expect(report.outcome == .published && report.reason == "this ended the canary of snapshot 2", "\(report)")
    #expect(try await Self.shareOfSecond(fixture, of: 20) == 20)
    // The instances of the first build and of the canary end. The reload has made its own from the same file.
    try await fixture.waitForLine("destroyed=1")
    await fixture.shutdown()
  }

  @Test func `a second build waits until the canary has ended`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    try library.install(3, at: fixture.path())
    let waiting = Task { try await fixture.engine.swap() }
    try await fixture.waitForStatus("a waiting swap") { $0.queued == 1 }
    try await fixture.engine.abortCanary()
    let report = try await waiting.value
    #expect(report.outcome == .canary && report.changes.first?.new?.generation == 3, "\(report)")
    await fixture.shutdown()
  }

  /// A swap that is published now does not wait for a canary either.
  @Test func `a swap without a canary ends the running one`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    try library.install(3, at: fixture.path())
    let report = try await fixture.engine.swap(plugins: nil, sources: [:], canary: .none)
    #expect(report.outcome == .published && report.endedCanary == 2, "\(report)")
    for _ in 0..<20 { #expect(try await fixture.stamp() == 3) }
    await fixture.shutdown()
  }

  @Test func `a build that is refused while it is a canary is ended, and a reload does not publish it`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    let report = try await fixture.engine.swap()
    let hash = try #require(report.changes.first?.new?.hash)
    try fixture.engine.refuse(hash: hash, because: "the moon fell")
    let status = try await fixture.waitForStatus("the end of the canary") { $0.history.last?.outcome == .rolledBack }
    #expect(status.history.last?.reason == "the moon fell")
    await #expect(throws: SwapError.self) { try await fixture.engine.reload(fixture.engine.configuration) }
    #expect(try await Self.shareOfSecond(fixture, of: 20) == 0)
    await fixture.shutdown()
  }

  @Test func `after its promotion, a build is on probation and compared with the old build's last step`() async throws {
    let library = try await StampedLibrary.inC()
    let swap = #"{"probation": {"duration": "1h"}, "canary": {"steps": [50], "hold": "1h", "latency": false}}"#
    let fixture = try SwapFixture(swap: swap) { try library.install(1, at: $0.path("a.so")) }
    try await StampedLibrary.inC(.failsRequests).install(2, at: fixture.path())
    try await fixture.engine.swap()
    // Fewer transactions than the first comparison needs.
    for _ in 0..<60 { _ = try? await fixture.stamp() }
    try await fixture.engine.promoteCanary()
    #expect(await fixture.engine.status.probation != nil)
    let load = try SwapLoad(fixture)
    let status = try await fixture.waitForStatus("the return") { $0.history.last?.outcome == .rolledBack }
    _ = await load.stop()
    let report = try #require(status.history.last)
    #expect(report.trigger == .probation && report.reason?.hasPrefix("failed ") == true, "\(report)")
    #expect(fixture.engine.swaps.state.withLock { $0.canary == nil })
    #expect(try await fixture.stamp() == 1)
    await fixture.shutdown()
  }

  @Test func `without a canary there is nothing to promote or to end`() async throws {
    let (fixture, _) = try await Self.fixture()
    let promotion = await #expect(throws: SwapError.self) { try await fixture.engine.promoteCanary() }
    #expect(promotion?.report.reason == "no canary is running")
    let end = await #expect(throws: SwapError.self) { try await fixture.engine.abortCanary() }
    #expect(end?.report.reason == "no canary is running")
    await fixture.shutdown()
  }

  @Test func `an engine that ends leaves its canary undecided, and says so`() async throws {
    let (fixture, library) = try await Self.fixture()
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    await fixture.shutdown()
    #expect(fixture.lines("canary 2: not decided before the engine was shut down").count == 1)
    #expect(await fixture.engine.status.history.last?.outcome == .unfinished)
    for build in 1...2 { #expect(fixture.lines("destroyed=\(build)").count == 1) }
  }

  @Test func `a canary whose call blocks a loop is ended`() async throws {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(swap: Self.swap(), loops: 2) { try library.install(1, at: $0.path("a.so")) }
    try library.install(2, at: fixture.path())
    try await fixture.engine.swap()
    let candidate = try #require(await fixture.engine.status.generations.last)
    let call = LoopObstacle.Call(
      plugin: "a", pluginID: candidate.pluginID, generation: candidate.id, callback: "on_request", transaction: nil)
    fixture.engine.swaps.endCanary(blockedBy: LoopObstacle(loop: 0, hasDied: false, age: .seconds(1), call: call))
    let status = try await fixture.waitForStatus("the end of the canary") { $0.history.last?.outcome == .rolledBack }
    #expect(status.history.last?.reason?.contains("on_request") == true, "\(String(describing: status.history.last))")
    #expect(status.refused.keys.contains(candidate.hash))
    await fixture.shutdown()
  }
}
