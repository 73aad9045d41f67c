import Glibc
@testable import Sluice
import SluiceAssembly
import SluiceMessages
import SluiceTestKit
import SluiceTestServers
import Testing

/// What the engine after a canary serves.
@Suite struct CanaryRecordTests {
  private static let swap = #"{"probation": {"duration": "0s"}, "canary": {"steps": [50], "hold": "1h"}}"#
  private let fixture: SwapFixture
  private let library: StampedLibrary

  /// Begins a canary of the second build.
  init() async throws {
    let library = try await StampedLibrary.inC()
    self.library = library
    fixture = try SwapFixture(swap: Self.swap) { try library.install(1, at: $0.path("a.so")) }
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .canary)
  }

  /// The next engine with the same configuration.
  private struct Next {
    let engine: Engine
    let log: Watched<[LogLine]>

    func says(_ words: String) -> Bool { log.value.contains { $0.message.contains(words) } }
  }

  private func next(store: String = "store") throws -> Next {
    let log = Watched<[LogLine]>([])
    var configuration = fixture.engine.configuration
    configuration.store = fixture.path(store)
    return Next(engine: try Engine(configuration) { line in log.update { $0.append(line) } }, log: log)
  }

  private func stamps(_ engine: Engine, _ count: Int = 20) async throws -> Set<String?> {
    var stamps: Set<String?> = []
    for _ in 0..<count {
      stamps.insert(try await engine.perform(Request(url: fixture.url)).headers["x-stamp-a"])
    }
    return stamps
  }

  private func end(_ engines: Engine...) async {
    for engine in engines { await engine.shutdown(drain: .seconds(5)) }
    fixture.server.stop()
  }

  private var records: [String] {
    FileTree.names(in: fixture.path("store/canaries")).flatMap {
      FileTree.names(in: fixture.path("store/canaries/\($0)"))
    }
  }

  @Test func `if the engine ended before the canary was decided, the old build serves until a swap`() async throws {
    await fixture.engine.shutdown(drain: .seconds(5))
    let next = try next()
    #expect(next.says("is a canary that was not decided when its engine ended; a swap begins it again; build "))
    #expect(try await stamps(next.engine) == ["1"])
    #expect(await next.engine.status.refused.isEmpty)
    #expect(try await next.engine.swap().outcome == .canary)
    try await next.engine.promoteCanary()
    #expect(records.isEmpty)
    await next.engine.shutdown(drain: .seconds(5))
    let last = try self.next()
    #expect(try await stamps(last.engine) == ["2"] && !last.says("the build at"))
    await end(last.engine)
  }

  @Test func `a build whose canary was ended does not serve after a restart, until its refusal is cleared`()
    async throws
  {
    try await fixture.engine.abortCanary()
    await fixture.engine.shutdown(drain: .seconds(5))
    let second = try next()
    #expect(second.says("is refused: ended by command; build "), "\(second.log.value)")
    #expect(try await stamps(second.engine) == ["1"])
    try second.engine.clearRefusals()
    await second.engine.shutdown(drain: .seconds(5))
    let third = try next()
    #expect(try await stamps(third.engine) == ["2"] && !third.says("the build at") && records.isEmpty)
    await end(third.engine)
  }

  @Test func `while one engine runs a canary, another one starts with the old build`() async throws {
    let other = try next()
    #expect(other.says("is a canary of another process, which is not decided; build "), "\(other.log.value)")
    #expect(try await stamps(other.engine) == ["1"])
    // It can run the same canary, without a record of its own.
    #expect(try await other.engine.swap().outcome == .canary)
    await other.engine.shutdown(drain: .seconds(5))
    #expect(records.count == 2)
    try await fixture.engine.promoteCanary()
    #expect(records.isEmpty)
    await end(fixture.engine)
  }

  /// A copy of the store has the record, but nobody holds its lock, as after a crash.
  private func copyStore() async throws {
    let copy = try await Command.run("cp", ["-a", fixture.path("store"), fixture.path("copy")])
    try #require(copy.status == 0, "\(copy.errorText)")
  }

  @Test func `after a crash the old build serves, and the candidate is refused`() async throws {
    try await copyStore()
    let next = try next(store: "copy")
    #expect(next.says("is refused: its process ended during its canary, at 50 % of the new transactions; build "))
    #expect(try await stamps(next.engine) == ["1"])
    #expect(await next.engine.status.refused.count == 1)
    await #expect(throws: SwapError.self) { try await next.engine.swap() }
    await end(next.engine, fixture.engine)
  }

  @Test func `if the library changed after the crash, the new content serves, and the candidate is refused`()
    async throws
  {
    try await copyStore()
    try library.install(3, at: fixture.path())
    let next = try next(store: "copy")
    #expect(try await stamps(next.engine) == ["3"])
    #expect(await next.engine.status.refused.values.first?.hasPrefix("its process ended during its canary") == true)
    try library.install(2, at: fixture.path())
    await #expect(throws: SwapError.self) { try await next.engine.swap() }
    await end(next.engine, fixture.engine)
  }

  @Test func `if the copy of the old build is damaged, the new build serves, and a line says why`() async throws {
    try await copyStore()
    let project = try #require(FileTree.names(in: fixture.path("copy/canaries")).first)
    let folder = fixture.path("copy/canaries/\(project)")
    let copy = try #require(FileTree.names(in: folder).first { $0.hasSuffix(".so") })
    unlink("\(folder)/\(copy)")
    try library.install(4, at: "\(folder)/\(copy)")
    let next = try next(store: "copy")
    #expect(next.says("it serves nevertheless, because the build from before cannot be used: "), "\(next.log.value)")
    #expect(next.says("is not the build that was recorded"))
    #expect(try await stamps(next.engine) == ["2"])
    await end(next.engine, fixture.engine)
  }

  /// How a canary is replaced, and the build that the next engine serves.
  @Test(arguments: [("reload", "2"), ("now", "3"), ("rollback", "1")])
  func `what ends a canary decides what the next engine serves`(_ end: String, _ build: String) async throws {
    switch end {
    case "reload": try await fixture.engine.reload(fixture.engine.configuration)
    case "now":
      try library.install(3, at: fixture.path())
      #expect(
        try await fixture.engine.swaps.submit(.swap(nil, endsCanary: true), canary: .none).0.outcome == .published)
    default: try await fixture.engine.rollback()
    }
    await fixture.engine.shutdown(drain: .seconds(5))
    let next = try next()
    #expect(try await stamps(next.engine) == [build])
    #expect(records.isEmpty == (build != "1"))
    await self.end(next.engine)
  }

  /// Publishes the second build, and then the third one after a canary.
  /// - Returns: the number of the snapshot.
  @discardableResult
  private func beginProbation(_ library: StampedLibrary? = nil, duration: String = "1h") async throws -> Int {
    let swap = #"{"probation": {"duration": "\#(duration)"}, "canary": {"steps": [50], "hold": "1h"}}"#
    try await fixture.engine.reload(SwapFixture.configuration([("a", "a.so")], swap: swap, in: fixture.folder))
    try (library ?? self.library).install(3, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .canary)
    // Fewer transactions than a comparison needs.
    for _ in 0..<60 { _ = try? await fixture.stamp() }
    return try await fixture.engine.promoteCanary().snapshot
  }

  @Test func `after a crash during the probation the old build serves, and the new one is refused`() async throws {
    try await beginProbation()
    try await copyStore()
    let next = try next(store: "copy")
    #expect(next.says("is refused: its process ended during the probation after its canary; build "))
    #expect(try await stamps(next.engine) == ["2"])
    await end(next.engine, fixture.engine)
  }

  @Test func `a build that failed its probation does not serve after a restart`() async throws {
    try await beginProbation(StampedLibrary.inC(.failsRequests))
    for _ in 0..<400 { _ = try? await fixture.stamp() }
    try await fixture.waitForStatus("the return") { $0.history.last?.outcome == .rolledBack }
    await fixture.engine.shutdown(drain: .seconds(5))
    for _ in 1...2 {
      let next = try next()
      #expect(next.says("is refused: failed "), "\(next.log.value)")
      #expect(try await stamps(next.engine) == ["2"])
      await next.engine.shutdown(drain: .seconds(5))
    }
    await end()
  }

  /// What happens during the probation, and the build that the next engine serves.
  @Test(arguments: [("end", "3"), ("asked to end", "3"), ("rollback", "2"), ("swap", "3"), ("pass", "3")])
  func `a build on probation serves after a restart, unless the engine has returned`(
    _ event: String, _ build: String
  ) async throws {
    let snapshot = try await beginProbation(duration: event == "pass" ? "20ms" : "1h")
    if event != "pass" { #expect(!records.isEmpty) }
    switch event {
    case "asked to end": fixture.engine.endIsNear()
    case "rollback": try await fixture.engine.rollback()
    case "swap":
      // The fourth build is a canary, which is not decided.
      try library.install(4, at: fixture.path())
      #expect(try await fixture.engine.swap().outcome == .canary)
    case "pass":
      try await fixture.waitForLine("snapshot \(snapshot) has passed its probation")
      #expect(records.isEmpty)
    default: break
    }
    if event == "asked to end" { try await copyStore() }
    await fixture.engine.shutdown(drain: .seconds(5))
    let next = try next(store: event == "asked to end" ? "copy" : "store")
    #expect(try await stamps(next.engine) == [build])
    #expect(await next.engine.status.refused.isEmpty)
    await end(next.engine)
  }

  /// The record of an undecided canary is over as soon as its build is published.
  @Test func `a build that is published after its canary was left serves after a restart`() async throws {
    try await fixture.engine.rollback()
    #expect(records.count == 2)
    let swap = await fixture.engine.swaps.submit(.swap(nil, endsCanary: true), canary: .none)
    #expect(swap.0.outcome == .published && records.isEmpty)
    await fixture.engine.shutdown(drain: .seconds(5))
    let next = try next()
    #expect(try await stamps(next.engine) == ["2"])
    await end(next.engine)
  }

  @Test func `if a refusal cannot be stored, the record says that the canary is not decided`() async throws {
    try fixture.folder.write("in the way", to: "store/refused")
    try await fixture.engine.abortCanary()
    await fixture.engine.shutdown(drain: .seconds(5))
    for _ in 1...2 {
      let next = try next()
      #expect(try await stamps(next.engine) == ["1"])
      await next.engine.shutdown(drain: .seconds(5))
    }
    await end()
  }

  @Test func `a process that was asked to end, and is killed then, does not count as crashed`() async throws {
    fixture.engine.endIsNear()
    try await copyStore()
    let next = try next(store: "copy")
    #expect(try await stamps(next.engine) == ["1"])
    #expect(await next.engine.status.refused.isEmpty)
    await end(next.engine, fixture.engine)
  }

  @Test func `an old build that was refused in the meantime does not serve instead`() async throws {
    let old = try #require(await fixture.engine.status.generations.first?.hash)
    try fixture.engine.refuse(hash: old, because: "the moon fell")
    await fixture.engine.shutdown(drain: .seconds(5))
    let next = try next()
    #expect(next.says("is refused too: the moon fell"), "\(next.log.value)")
    #expect(try await stamps(next.engine) == ["2"])
    await end(next.engine)
  }

  @Test func `a canary that cannot be recorded does not begin`() async throws {
    try await fixture.engine.promoteCanary()
    FileTree.remove(fixture.path("store/canaries"))
    try fixture.folder.write("in the way", to: "store/canaries")
    try library.install(3, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(
      error?.report.reason?.contains("the canary cannot be recorded, so it does not begin: Not a directory") == true,
      "\(String(describing: error))")
    try await fixture.waitForLine("destroyed=3")
    #expect(try await stamps(fixture.engine) == ["2"])
    await end(fixture.engine)
  }
}
