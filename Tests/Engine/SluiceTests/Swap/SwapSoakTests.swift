import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// Many swaps under full load, of a plugin in C and a plugin in Swift. The test makes 50 swaps. With `SLUICE_SOAK=1`,
/// it makes 1,000. A minute of load and half a minute of rest follow.
@Suite struct SwapSoakTests {
  private static var isFull: Bool { getenv("SLUICE_SOAK") != nil }

  @Test func `under load, swaps lose no request and mix no builds, all counts are right, and nothing leaks`()
    async
  {
    await #expect(processExitsWith: .success) {
      try await SwapSoakTests.swapAgainAndAgain(SwapSoakTests.isFull ? 1000 : 50)
    }
  }

  private static func swapAgainAndAgain(_ count: Int) async throws {
    let plugins = [("c", "c.so"), ("s", "s.so")]
    let inC = try await StampedLibrary.inC()
    let inSwift = try StampedLibrary.inSwift()
    // The builds together map more than the default limit for their memory.
    let swap = #"{"probation": {"duration": "0s"}, "generationBytes": 1099511627776}"#
    let fixture = try SwapFixture(plugins, swap: swap) { folder in
      try inC.install(1, at: folder.path("c.so"))
      try inSwift.install(1, at: folder.path("s.so"))
    }
    let load = try SwapLoad(fixture, plugins: ["c", "s"])
    try await load.run()
    var before = (descriptors: 0, bytes: 0)
    for number in 2...count + 1 {
      try inC.install(number, at: fixture.path("c.so"))
      try inSwift.install(number, at: fixture.path("s.so"))
      let report = try await fixture.engine.swap()
      try #require(report.outcome == .published && report.changes.count == 2, "\(report)")
      try await load.run(2)
      if number == 10 { before = facts() }
    }
    if isFull { try await Task.sleep(for: .seconds(60)) }
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    let status = try await fixture.waitForStatus("all old builds to be parked") { status in
      !status.generations.contains { $0.state == .draining }
    }
    try expectBounded(from: before, count, try FileTree.read(fixture.path("s.so")).count)
    #expect(status.budget.used == 2 * (count + 1))
    #expect(status.generations.count { $0.state == .active } == 2)
    #expect(status.generations.allSatisfy { $0.leases == 0 && $0.violations == 0 })
    // Each build is mapped at its own addresses, because no build is ever unloaded.
    let maps = try FileTree.readText("/proc/self/maps").split(separator: "\n")
    let mapped = Set(maps.filter { $0.hasSuffix("/plugin.so") }.compactMap { $0.split(separator: " ").last })
    #expect(mapped.count == 2 * (count + 1))
    if isFull { try await Task.sleep(for: .seconds(30)) }
    #expect(try await fixture.stamp(of: "s") == count + 1)
    let total = counts.succeeded + 1
    #expect(fixture.server.requestCount == total)
    #expect(fixture.engine.metrics().begun == UInt64(total))
    for plugin in ["c", "s"] {
      #expect(fixture.engine.pluginMetrics[plugin, "calls"]?.series.first?.value == Double(total))
    }
    await fixture.shutdown()
    // The last build must find the counts of all builds, both in its values and in the state that each build passed to
    // the next one.
    for plugin in ["c", "s"] {
      func last(_ name: String) -> String? {
        fixture.log.value.last { $0.stage == plugin && $0.message.hasPrefix("\(name)=") }?.message
      }
      for key in ["requests", "responses", "exchanged"] { #expect(last(key) == "\(key)=\(total)") }
      #expect(last("before") == "before=\(count)")
      let ends = fixture.log.value.count { $0.stage == plugin && $0.message.hasPrefix("deactivated=") }
      #expect(ends == count + 1)
    }
  }

  private static func facts() -> (descriptors: Int, bytes: Int) {
    (ProcessFacts().openDescriptorCount, ProcessFacts().residentBytes ?? 0)
  }

  /// Checks descriptors and memory after the swaps. Twenty more descriptors are allowed for connections of the load.
  /// This is far fewer than one for each build.
  /// - Parameter libraryBytes: the size of a build in Swift.
  private static func expectBounded(
    from before: (descriptors: Int, bytes: Int), _ count: Int, _ libraryBytes: Int
  ) throws {
    let after = facts()
    #expect(after.descriptors < before.descriptors + 20)
    // A build's pages count as resident only if they were touched, so each build adds less than its size.
    let perSwap = (after.bytes - before.bytes) / max(count - 10, 1)
    if !Sanitizer.isOn { #expect(perSwap < libraryBytes, "\(perSwap) bytes for each swap") }
  }
}
