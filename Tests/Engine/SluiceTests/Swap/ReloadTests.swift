import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import Testing

/// Reloads of a changed configuration while requests flow.
@Suite struct ReloadTests {
  private static func fixture() async throws -> (SwapFixture, StampedLibrary) {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture { folder in
      for file in ["a.so", "b.so"] { try library.install(1, at: folder.path(file)) }
    }
    return (fixture, library)
  }

  private static let quick = #"{"probation": {"duration": "0s"}}"#

  @Test func `a reload adds and removes stages, and does not touch the others`() async throws {
    let (fixture, _) = try await Self.fixture()
    let load = try SwapLoad(fixture)
    try await load.run()
    let two = try SwapFixture.configuration([("a", "a.so"), ("b", "b.so")], swap: Self.quick, in: fixture.folder)
    let report = try await fixture.engine.reload(two)
    #expect(report.outcome == .published && report.trigger == .reload)
    #expect(report.changes.map(\.plugins) == [["b"]])
    #expect(try await fixture.stamp(of: "b") == 1)
    let one = try SwapFixture.configuration([("a", "a.so")], swap: Self.quick, in: fixture.folder)
    #expect(try await fixture.engine.reload(one).outcome == .published)
    #expect(try await fixture.stamp(of: "b") == nil)
    try await fixture.waitForLine("destroyed=1")
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0)
    // Only the instance of b was destroyed. The instance of a was active all the time.
    #expect(fixture.log.value.filter { $0.message == "destroyed=1" }.map(\.stage) == ["b"])
    #expect(fixture.log.value.filter { $0.message == "activated=1" }.map(\.stage) == ["a", "b"])
    await fixture.shutdown()
  }

  @Test func `an instance whose settings changed is created again with its state, on the same build`() async throws {
    let (fixture, _) = try await Self.fixture()
    let load = try SwapLoad(fixture)
    var other = try SwapFixture.configuration([("a", "a.so")], swap: Self.quick, in: fixture.folder)
    other.plugins[0].config = ["header": "x-stamp-other"]
    #expect(try await fixture.engine.reload(other).outcome == .published)
    #expect(try await fixture.stamp(of: "other") == 1)
    #expect(fixture.lines("before=").last == "before=1")
    _ = await load.stop()
    try await fixture.waitForLine("destroyed=1")
    let status = await fixture.engine.status
    #expect(status.budget.used == 1 && status.serving("a")?.id == 1)
    await fixture.shutdown()
  }

  @Test func `a rollback that changes only settings does not need the stored copy of the serving build`() async throws {
    let (fixture, _) = try await Self.fixture()
    var other = try SwapFixture.configuration([("a", "a.so")], swap: Self.quick, in: fixture.folder)
    other.plugins[0].config = ["header": "x-stamp-other"]
    #expect(try await fixture.engine.reload(other).outcome == .published)
    try await fixture.waitForLine("destroyed=1")
    FileTree.remove(fixture.path("store"))
    #expect(try await fixture.engine.rollback().outcome == .published)
    #expect(try await fixture.stamp() == 1)
    #expect(await fixture.engine.status.budget.used == 1)
    await fixture.shutdown()
  }

  @Test func `a reload changes the settings that apply to requests`() async throws {
    let (fixture, _) = try await Self.fixture()
    var other = try SwapFixture.configuration([("a", "a.so")], swap: Self.quick, in: fixture.folder)
    other.acceptedStatuses = StatusSet([500...599])
    other.baseURL = HTTPURL("http://example.com/")
    #expect(try await fixture.engine.reload(other).outcome == .published)
    let error = try await fixture.engine.transaction(Request(url: fixture.url)).error
    #expect(error?.code == "http_status")
    #expect(fixture.engine.baseURL?.string == "http://example.com/")
    #expect(try await fixture.engine.rollback().outcome == .published)
    #expect(try await fixture.stamp() == 1)
    #expect(fixture.engine.baseURL == nil)
    await fixture.shutdown()
  }

  @Test func `a reload must not change a key that is read only at the start, and the error names the key`() async throws
  {
    let (fixture, _) = try await Self.fixture()
    var other = try SwapFixture.configuration([("a", "a.so")], loops: 3, in: fixture.folder)
    other.store = "/elsewhere"
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.reload(other) }
    let reason = error?.report.reason ?? ""
    #expect(reason.hasPrefix("\"transport.loops\", \"store\" cannot change while the engine runs"))
    #expect(await fixture.engine.status.snapshot == 1)
    await fixture.shutdown()
  }

  @Test func `an invalid configuration does not affect the serving snapshot`() async throws {
    let (fixture, _) = try await Self.fixture()
    var other = try SwapFixture.configuration([("a", "a.so"), ("b", "b.so")], in: fixture.folder)
    other.tracers = [StageReference("b")]
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.reload(other) }
    #expect(error?.report.reason?.contains("is in \"tracers\" but has no on_event") == true)
    #expect(fixture.log.value.contains { $0.message == "destroyed=1" && $0.stage == "b" })
    #expect(try await fixture.stamp() == 1)
    await fixture.shutdown()
  }

  @Test func `the counts of the built-in metrics continue after a reload`() async throws {
    let library = try await StampedLibrary.inC()
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    func configuration() throws -> Configuration {
      var made = try SwapFixture.configuration([("a", "a.so")], swap: Self.quick, in: fixture.folder)
      made.plugins.append(PluginConfiguration(name: "m", source: .builtin("metrics")))
      made.tracers = [StageReference("m")]
      return made
    }
    _ = try await fixture.engine.reload(configuration())
    #expect(try await fixture.stamp() == 1)
    _ = try await fixture.engine.reload(configuration())
    #expect(try await fixture.stamp() == 1)
    #expect(fixture.engine.metricsReports["m"]?.timeToHead.count == 2)
    await fixture.shutdown()
  }
}
