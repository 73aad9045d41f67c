import SluiceAssembly
import SluicePluginFile
import SluicePluginHost
import SluiceTestKit
import Testing

/// The parts that all hosts of plugins share, with real libraries and without an engine.
@Suite struct PluginHostingTests {
  /// A host that makes snapshots of the libraries a.so and b.so.
  private final class Host {
    let folder: TemporaryDirectory
    let hosting: PluginHosting
    private var generations: [String: LoadedGeneration] = [:]

    init() async throws {
      folder = try TemporaryDirectory()
      for name in ["a", "b"] { try await StampedLibrary.inC().install(1, at: folder.path("\(name).so")) }
      let runtime = HostRuntime(loops: [], programName: "sluice", programVersion: "1.0.0", log: { _ in })
      hosting = PluginHosting(runtime: runtime, log: { _ in })
    }

    func snapshot(_ number: Int, of names: [String], following predecessor: Snapshot) throws -> Snapshot {
      let configuration = try SwapFixture.configuration(names.map { ($0, "\($0).so") }, in: folder)
      for library in configuration.libraries where generations[library] == nil {
        let loader = try PluginLoader(store: folder.path("store"), offer: hosting.runtime.offer)
        generations[library] = try hosting.enter(loader.stage(library).load(), of: library, for: names)
      }
      let draft = hosting.draft(configuration, generations, following: predecessor)
      try draft.create()
      let snapshot = try draft.snapshot(number, loops: 1)
      try draft.activate()
      return snapshot
    }
  }

  @Test func `an instance ends with the last snapshot that has it, and works only while it serves`() async throws {
    let host = try await Host()
    let empty = Snapshot.empty(try SwapFixture.configuration([], in: host.folder), loops: 1)
    let first = try host.snapshot(1, of: ["a"], following: empty)
    let second = try host.snapshot(2, of: ["a", "b"], following: first)
    let third = try host.snapshot(3, of: ["b"], following: second)
    #expect(host.hosting.records.map(\.id) == [1, 2])
    let (a, b) = (try #require(first.instances.first), try #require(third.instances.first))
    #expect(second.holds(a) && second.holds(b) && !third.holds(a))

    var live = LiveSnapshots(published: empty)
    var serving: [[Bool]] = [[a.isServing, b.isServing]]
    for snapshot in [first, second, third] {
      let earlier = live.published
      live.publish(snapshot)
      snapshot.serve(after: earlier)
      serving.append([a.isServing, b.isServing])
    }
    #expect(serving == [[false, false], [true, false], [true, true], [false, true]])

    // Transactions of the first snapshot still run, so the end of the second one must not end the instance of both.
    #expect(live.release(second).isEmpty)
    #expect(live.all.map(\.number) == [3, 0, 1])
    let ended = live.release(first)
    #expect(ended.count == 1 && ended.first?.instance === a)
    #expect(live[1] == nil && live[3] === third)
    for part in ended + third.parts { #expect(part.end(within: Patience.limit)) }
    host.hosting.runtime.close()
  }
}
