import Sluice
import SluicePipeline
import SluiceTestKit
import Testing

/// Scheduled work and notifications during a swap.
@Suite struct SwapWorkTests {
  private struct Setup {
    let folder: TemporaryDirectory
    let library: [UInt8]
    let engine: Engine
    let log = Watched<[LogLine]>([])

    init(schedules: String = "[]", swap: String) async throws {
      folder = try TemporaryDirectory()
      let product = try await PluginCompiler.compile("handles-work")
      library = try withExtendedLifetime(product) { try FileTree.read(product.path) }
      let log = self.log
      try StampedLibrary.install(library, at: folder.path("worker.so"))
      let text = """
        {"plugins": {"worker": {"library": "worker.so", "config": {"schedules": \(schedules)}}},
         "swap": \(swap), "store": "store"}
        """
      engine = try Engine(Configuration(text: Array(text.utf8), file: folder.path("sluice.json"))) { line in
        log.update { $0.append(line) }
      }
    }

    /// Installs a build that differs in one byte at its end, which the loader ignores.
    func installNext() throws { try StampedLibrary.install(library + [0], at: folder.path("worker.so")) }

    func waitForWork(of generation: Int, count: Int) async throws {
      let before = calls(of: generation)
      try await log.wait(for: "work of generation \(generation)") { lines in
        lines.count { $0.generation == generation && $0.message.hasPrefix("scheduled-take") } >= before + count
      }
    }

    func calls(of generation: Int) -> Int {
      log.value.count { $0.generation == generation && $0.message.hasPrefix("scheduled-take") }
    }
  }

  @Test func `scheduled work and notifications go to the build that is published`() async throws {
    let setup = try await Setup(
      schedules: #"[{"name": "take", "periodMs": 2, "deadlineMs": 60000}]"#, swap: #"{"probation": {"duration": "1h"}}"#
    )
    func taker() async -> Int? {
      guard case .plugin(_, _, let generation) = await setup.engine.notify(topic: "take").taker else { return nil }
      return generation
    }
    try await setup.waitForWork(of: 1, count: 3)
    #expect(await taker() == 1)
    try setup.installNext()
    #expect(try await setup.engine.swap().outcome == .published)
    let left = setup.calls(of: 1)
    try await setup.waitForWork(of: 2, count: 5)
    #expect(await taker() == 2)
    // One call might still have been running. The old instance is on standby, and the rollback continues its work.
    #expect(setup.calls(of: 1) <= left + 1)
    #expect(try await setup.engine.rollback().outcome == .published)
    try await setup.waitForWork(of: 1, count: 3)
    #expect(await taker() == 1)
    await setup.engine.shutdown()
  }

  @Test func `an old build drains until its notification is completed`() async throws {
    let setup = try await Setup(swap: #"{"probation": {"duration": "0s"}, "drain": "1h"}"#)
    let kept = Task { await setup.engine.notify(topic: "keep", deadline: .seconds(3600)) }
    try await setup.log.wait(for: "the call") { lines in lines.contains { $0.message.hasPrefix("notified-keep") } }
    try setup.installNext()
    #expect(try await setup.engine.swap().outcome == .published)
    let old = try #require(await setup.engine.status.generations.first)
    #expect(old.state == .draining && old.completions == 1 && old.leases == 0)
    await setup.engine.shutdown(drain: .zero)
    _ = await kept.value
  }

  @Test func `a notification that an old build has not completed when the drain is over ends as replaced`() async throws
  {
    let setup = try await Setup(swap: #"{"probation": {"duration": "0s"}, "drain": "100ms"}"#)
    let kept = Task { await setup.engine.notify(topic: "keep", deadline: .seconds(3600)) }
    try await setup.log.wait(for: "the call") { lines in lines.contains { $0.message.hasPrefix("notified-keep") } }
    try setup.installNext()
    #expect(try await setup.engine.swap().outcome == .published)
    let result = await kept.value
    #expect(result.outcome == .replaced && "\(result.outcome)" == "replaced")
    #expect(result.taker == .plugin(stage: "worker", id: "handles-work", generation: 1))
    let line = try #require(setup.log.value.first { $0.message.contains("the notification \"keep\"") })
    #expect(line.level == .warning && line.stage == "worker" && line.generation == 1)
    #expect(line.message.contains("notify again, or raise swap.drain"))
    #expect(await setup.engine.notify(topic: "take").outcome == .ended(.newData))
    await setup.engine.shutdown()
  }

  @Test func `each notification during swaps is taken once, and none is lost`() async throws {
    let setup = try await Setup(swap: #"{"probation": {"duration": "0s"}}"#)
    let isOver = Watched(false)
    let notifying = Task {
      var taken = 0
      while !isOver.value {
        let result = await setup.engine.notify(topic: "take")
        guard result.outcome == .ended(.newData) else { return (taken, result.outcome as NotificationResult.Outcome?) }
        taken += 1
      }
      return (taken, nil)
    }
    for number in 1...10 {
      try StampedLibrary.install(
        setup.library + [UInt8](repeating: 0, count: number), at: setup.folder.path("worker.so"))
      #expect(try await setup.engine.swap().outcome == .published)
    }
    isOver.update { $0 = true }
    let (taken, failure) = await notifying.value
    #expect(failure == nil)
    let calls = setup.log.value.count { $0.message.hasPrefix("notified-take") }
    #expect(calls == taken)
    await setup.engine.shutdown()
  }
}
