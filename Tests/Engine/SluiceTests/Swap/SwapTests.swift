import Glibc
import Sluice
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import Testing

/// Swaps of libraries in a real engine, under load.
@Suite struct SwapTests {
  /// Starts an engine that serves build 1 under load.
  private static func start(
    _ plugins: [(name: String, library: String)] = [("a", "a.so")]
  ) async throws -> (SwapFixture, SwapLoad, StampedLibrary) {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture(plugins) { folder in
      for file in Set(plugins.map(\.library)) { try library.install(1, at: folder.path(file)) }
    }
    return (fixture, try SwapLoad(fixture, plugins: plugins.map(\.name)), library)
  }

  private static func expectWhole(_ counts: SwapLoad.Counts) {
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
  }

  @Test func `a new build serves new transactions, and no request fails`() async throws {
    let (fixture, load, library) = try await Self.start()
    try await load.run()
    try library.install(2, at: fixture.path())
    let report = try await fixture.engine.swap()
    #expect(report.outcome == .published && report.trigger == .swap && report.snapshot == 2)
    let change = try #require(report.changes.first)
    #expect(change.plugins == ["a"] && change.old?.generation == 1 && change.new?.generation == 2)
    #expect(change.old?.hash != change.new?.hash && change.new?.version == "1.0.0")
    #expect(try await fixture.stamp() == 2)
    try await load.run()
    Self.expectWhole(await load.stop())
    let status = try await fixture.waitForStatus("the old build to be parked") {
      $0.generations.first?.state.description == "parked"
    }
    #expect(status.snapshot == 2 && status.budget.used == 2 && status.serving("a")?.id == 2)
    #expect(status.history.map(\.outcome) == [.published])
    #expect(fixture.lines("deactivated=1").count == 1 && fixture.lines("destroyed=1").count == 1)
    await fixture.shutdown()
    #expect(fixture.lines("destroyed=2").count == 1)
  }

  @Test func `the log line about a swap has the swap's report, and no other line has a report`() async throws {
    let (fixture, load, library) = try await Self.start()
    try library.install(2, at: fixture.path())
    let report = try await fixture.engine.swap()
    let unchanged = try await fixture.engine.swap()
    try await fixture.waitForLine(": unchanged")
    #expect(fixture.log.value.compactMap(\.swap) == [report, unchanged])
    #expect(fixture.log.value.filter { $0.swap == nil }.allSatisfy { !$0.message.hasPrefix("swap ") })
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `a file with the same content is not a new build, even if it was touched or copied`() async throws {
    let (fixture, load, library) = try await Self.start()
    #expect(try await fixture.engine.swap().outcome == .unchanged)
    utimes(fixture.path(), nil)
    #expect(try await fixture.engine.swap(plugins: ["a"]).outcome == .unchanged)
    try library.install(1, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .unchanged)
    let status = await fixture.engine.status
    #expect(status.budget.used == 1 && status.snapshot == 1)
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `builds A, B and A again are loaded as three generations (L1)`() async throws {
    let (fixture, load, library) = try await Self.start()
    for (number, generation) in [(2, 2), (1, 3), (2, 4)] {
      try library.install(number, at: fixture.path())
      let report = try await fixture.engine.swap()
      #expect(report.changes.first?.new?.generation == generation)
      #expect(try await fixture.stamp() == number)
      // Each generation is loaded separately, and gets the state of the generation before it.
      #expect(fixture.lines("before=").last == "before=\(generation - 1)")
    }
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `a new build is recognized even if size, inode and time of the file are the same (L5)`() async throws {
    let (fixture, load, library) = try await Self.start()
    let path = fixture.path()
    var before = stat()
    #expect(stat(path, &before) == 0)
    // The file is overwritten in place while the old build is active, so inode and size stay the same.
    try StampedLibrary.write(library.build(2), to: path, truncating: false)
    utimensat(AT_FDCWD, path, [before.st_atim, before.st_mtim], 0)
    var after = stat()
    #expect(stat(path, &after) == 0)
    #expect(before.st_ino == after.st_ino && before.st_size == after.st_size)
    #expect(before.st_mtim.tv_sec == after.st_mtim.tv_sec)
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 2)
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `a file with other content and an older time is a new build (L5)`() async throws {
    let (fixture, load, library) = try await Self.start()
    try library.install(2, at: fixture.path())
    let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
    utimensat(AT_FDCWD, fixture.path(), [old, old], 0)
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 2)
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `a swap resolves a symbolic link again`() async throws {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture { folder in
      for number in 1...2 { try library.install(number, at: folder.path("\(number).so")) }
      symlink("1.so", folder.path("a.so"))
    }
    let load = try SwapLoad(fixture)
    #expect(try await fixture.engine.swap().outcome == .unchanged)
    symlink("2.so", fixture.path("new"))
    #expect(rename(fixture.path("new"), fixture.path()) == 0)
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 2)
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `the file of an active build can be overwritten and truncated (L2)`() async throws {
    let (fixture, load, library) = try await Self.start()
    try StampedLibrary.write([UInt8](repeating: 0xCC, count: library.build(1).count), to: fixture.path())
    try await load.run()
    #expect(truncate(fixture.path(), 100) == 0)
    try await load.run()
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.outcome == .refused)
    #expect(error?.report.reason?.contains("a.so: is not an ELF file") == true)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    try await load.run()
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `all instances of a library change together`() async throws {
    let (fixture, load, library) = try await Self.start([("a", "a.so"), ("b", "a.so"), ("c", "c.so")])
    try library.install(2, at: fixture.path())
    let report = try await fixture.engine.swap(plugins: ["b"])
    #expect(report.changes.first?.plugins == ["a", "b"] && report.changes.count == 1)
    for (plugin, number) in [("a", 2), ("b", 2), ("c", 1)] {
      #expect(try await fixture.stamp(of: plugin) == number)
    }
    let status = try await fixture.waitForStatus("the drain") { status in
      !status.generations.contains { $0.state == .draining }
    }
    #expect(status.generations.map(\.plugins) == [["a", "b"], ["c"], ["a", "b"]])
    #expect(status.generations.map(\.state.description) == ["parked", "active", "active"])
    Self.expectWhole(await load.stop())
    // The unchanged instance was not touched.
    #expect(fixture.lines("destroyed=1").count == 2 && fixture.lines("deactivated=1").count == 2)
    await fixture.shutdown()
  }

  @Test func `several libraries that change in one swap are published as one snapshot`() async throws {
    let (fixture, load, library) = try await Self.start([("a", "a.so"), ("b", "b.so")])
    try library.install(2, at: fixture.path("a.so"))
    try library.install(3, at: fixture.path("b.so"))
    let report = try await fixture.engine.swap()
    #expect(report.snapshot == 2 && report.changes.map(\.plugins) == [["a"], ["b"]])
    #expect(try await fixture.stamp(of: "a") == 2)
    #expect(try await fixture.stamp(of: "b") == 3)
    Self.expectWhole(await load.stop())
    await fixture.shutdown()
  }

  @Test func `a request in flight finishes on the build on which it began, including its response stages`() async throws
  {
    let (fixture, load, library) = try await Self.start()
    Self.expectWhole(await load.stop())
    fixture.server.hold()
    let running = Task { try await fixture.stamp() }
    try await fixture.server.waitForHeld(1)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let status = await fixture.engine.status
    let old = try #require(status.generations.first)
    #expect(old.state == .draining && old.leases == 1 && old.holders.count == 1 && old.suspended == 0)
    #expect(fixture.lines("deactivated=1").isEmpty)
    fixture.server.release()
    #expect(try await running.value == 1)
    try await fixture.waitForLine("destroyed=1")
    #expect(try await fixture.stamp() == 2)
    await fixture.shutdown()
  }

  @Test func `counters in shared values and in metrics continue after a swap`() async throws {
    let (fixture, load, library) = try await Self.start()
    for number in 2...5 {
      try await load.run()
      try library.install(number, at: fixture.path())
      #expect(try await fixture.engine.swap().outcome == .published)
    }
    let counts = await load.stop()
    Self.expectWhole(counts)
    #expect(fixture.engine.pluginMetrics["a", "calls"]?.series.first?.value == Double(counts.succeeded))
    let metrics = fixture.engine.metrics()
    #expect(metrics.begun == UInt64(counts.succeeded) && metrics[.succeeded] == UInt64(counts.succeeded))
    #expect(metrics.stage(.request, "a")?.calls == UInt64(counts.succeeded))
    #expect(fixture.server.requestCount == counts.succeeded)
    await fixture.shutdown()
  }
}
