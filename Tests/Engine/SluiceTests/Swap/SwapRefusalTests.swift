import Glibc
import Sluice
import SluicePluginFile
import SluicePluginHost
import SluiceTestKit
import SluiceTrial
import Testing

/// The kinds of failures before publication. Each has a reason and does not affect the serving builds.
@Suite struct SwapRefusalTests {
  private let library: StampedLibrary

  init() async throws { library = try await StampedLibrary.inC() }

  /// Installs a build while build 1 serves under load, and returns the refusal. Checks that build 1 continues to serve.
  private func refusal(
    of bytes: [UInt8]?, swap: String = #"{"probation": {"duration": "0s"}}"#,
    during: (SwapFixture) async throws -> Void = { _ in }
  ) async throws -> SwapError? {
    let fixture = try SwapFixture(swap: swap) { try library.install(1, at: $0.path("a.so")) }
    let load = try SwapLoad(fixture)
    try await load.run()
    if let bytes { try StampedLibrary.install(bytes, at: fixture.path()) } else { unlink(fixture.path()) }
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.outcome == .refused && error?.report.snapshot == 1)
    #expect(try await fixture.stamp() == 1)
    try await during(fixture)
    let status = await fixture.engine.status
    #expect(status.snapshot == 1 && status.serving("a")?.id == 1)
    #expect(status.history.last?.reason == error?.report.reason)
    #expect(fixture.lines("deactivated=1").isEmpty)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    await fixture.shutdown()
    return error
  }

  private func build(_ misbehaviour: StampedLibrary.Misbehaviour, optional: Bool = false) async throws -> [UInt8] {
    try await StampedLibrary.inC(misbehaviour, isStateOptional: optional).build(2)
  }

  private func compiled(_ behaviour: String, defines: [String] = []) async throws -> [UInt8] {
    let product = try await PluginCompiler.compile(behaviour, defines: defines)
    return try withExtendedLifetime(product) { try FileTree.read(product.path) }
  }

  @Test func `a swap whose file has vanished is refused after a short wait, with one log line`() async throws {
    let error = try await refusal(of: nil) { fixture in
      #expect(fixture.lines("trying again for about two seconds").count == 1)
    }
    #expect(error?.description.contains("a.so: there is no such file") == true)
  }

  @Test(arguments: [true, false])
  func `a swap waits if its file is still being written, and is too short or not yet filled`(
    _ isShort: Bool
  ) async throws {
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    let load = try SwapLoad(fixture)
    let build = library.build(2)
    let unfinished = isShort ? Array(build.prefix(1000)) : [UInt8](repeating: 0, count: build.count)
    try StampedLibrary.write(unfinished, to: fixture.path())
    async let report = fixture.engine.swap()
    try await fixture.waitForLine("trying again for about two seconds")
    try library.install(2, at: fixture.path())
    #expect(try await report.outcome == .published)
    #expect(try await fixture.stamp() == 2)
    #expect(await load.stop().failures.isEmpty)
    await fixture.shutdown()
  }

  @Test func `a swap waits for a file whose parts are written in any order`()
    async throws
  {
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    let load = try SwapLoad(fixture)
    let build = library.build(2)
    // The file has its final size, but only its header is written: no section has a name, and no entry point is found.
    let headers = 1024
    let unfinished = Array(build.prefix(headers)) + [UInt8](repeating: 0, count: build.count - headers)
    try StampedLibrary.write(unfinished, to: fixture.path())
    // A file whose time is in the future counts as recently written, even on a slow machine.
    let ahead = timespec(tv_sec: time(nil) + 3600, tv_nsec: 0)
    try #require(utimensat(AT_FDCWD, fixture.path(), [ahead, ahead], 0) == 0)
    async let report = fixture.engine.swap()
    try await fixture.waitForLine("trying again for about two seconds")
    try StampedLibrary.write(Array(build.prefix(build.count / 2)), to: fixture.path(), truncating: false)
    try StampedLibrary.write(build, to: fixture.path(), truncating: false)
    #expect(try await report.outcome == .published)
    #expect(try await fixture.stamp() == 2)
    #expect(fixture.lines("trying again for about two seconds").count == 1)
    #expect(await load.stop().failures.isEmpty)
    await fixture.shutdown()
  }

  @Test func `a file that was finished long ago is refused at once`() async throws {
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    try StampedLibrary.install(Array("no library".utf8), at: fixture.path())
    let past = timespec(tv_sec: time(nil) - 60, tv_nsec: 0)
    try #require(utimensat(AT_FDCWD, fixture.path(), [past, past], 0) == 0)
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.description.contains("is not an ELF file") == true)
    #expect(fixture.lines("trying again for about two seconds").isEmpty)
    await fixture.shutdown()
  }

  @Test func `a library without an entry point is refused before any of its code runs`() async throws {
    let error = try await refusal(of: try await compiled("no-entry"))
    #expect(error?.description.contains("does not define sluice_plugin_entry") == true)
  }

  @Test func `a library for other ABI versions is refused, and the error names both ranges`() async throws {
    let error = try await refusal(of: try await compiled("own-note", defines: ["ABI_MIN=7", "ABI_MAX=9"]))
    #expect(error?.description.contains("built for ABI 7 to 9, this host speaks ABI 1") == true)
  }

  @Test func `a library with an undefined symbol is refused, and the build is not counted as loaded`() async throws {
    let error = try await refusal(of: try await compiled("undefined-symbol")) { fixture in
      #expect(await fixture.engine.status.budget.used == 1)
    }
    #expect(error?.description.contains("undefined symbol") == true)
  }

  @Test func `if the loader returns an old mapping for a new build, the swap is refused, and a newer build works`()
    async throws
  {
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    let load = try SwapLoad(fixture)
    // The loader returns an already loaded library if the library's SONAME equals the requested path.
    let hash = try #require(ContentHash(of: library.build(3))).hex
    let copy = fixture.path("store/\(hash)/1/plugin.so")
    try await StampedLibrary.inC(soname: copy).install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    try await load.run()
    try library.install(3, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.outcome == .refused && error?.report.snapshot == 2)
    #expect(error?.description.contains("the loader returned an old mapping") == true, "\(String(describing: error))")
    #expect(try await fixture.stamp() == 2)
    #expect(!FileTree.exists(copy))
    #expect(await fixture.engine.status.budget.used == 2)
    try await load.run()
    try library.install(4, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 4)
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    await fixture.shutdown()
  }

  @Test func `a library for another machine is refused`() async throws {
    var bytes = library.build(2)
    bytes[18] = 183
    let error = try await refusal(of: bytes)
    #expect(error?.description.contains("built for") == true)
  }

  @Test func `if an entry point returns NULL, the swap is refused with the plugin's message`() async throws {
    let error = try await refusal(of: try await compiled("entry-returns-null")) { fixture in
      let status = await fixture.engine.status
      #expect(status.generations.map(\.state.description) == ["active", "refused"])
      #expect(status.budget.used == 2)
    }
    #expect(error?.underlying != nil)
  }

  @Test func `if create fails, the swap is refused with the plugin's message`() async throws {
    let error = try await refusal(of: try await build(.failsCreate))
    #expect(error?.description.contains("the moon is missing") == true)
  }

  @Test func `a create that returns OK without an instance is refused`() async throws {
    let error = try await refusal(of: try await build(.givesNull))
    #expect(error?.description.contains("gave no instance") == true)
  }

  @Test func `if a build does not accept the state, the swap is refused and the new instance destroyed`() async throws {
    let error = try await refusal(of: try await build(.refusesState)) { fixture in
      #expect(fixture.lines("activated=2").isEmpty && fixture.lines("destroyed=2").count == 1)
    }
    #expect(error?.description.contains("an old moon, of version 7") == true)
  }

  @Test func `if activate fails, the swap is refused and the new instance destroyed`() async throws {
    let error = try await refusal(of: try await build(.failsActivate)) { fixture in
      #expect(fixture.lines("deactivated=2").isEmpty && fixture.lines("destroyed=2").count == 1)
    }
    #expect(error?.description.contains("the moon is down") == true)
  }

  @Test(arguments: [StampedLibrary.Misbehaviour.savesNone, .savesTooMuch])
  func `if the old build's state cannot be saved or is too large, the swap is refused`(
    _ misbehaviour: StampedLibrary.Misbehaviour
  ) async throws {
    let old = try await StampedLibrary.inC(misbehaviour)
    let fixture = try SwapFixture { try old.install(1, at: $0.path("a.so")) }
    let load = try SwapLoad(fixture)
    try await load.run()
    try library.install(2, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    let words = misbehaviour == .savesNone ? "the moon cannot be saved" : "16777216 are allowed"
    #expect(error?.report.reason?.contains(words) == true, "\(String(describing: error))")
    #expect(try await fixture.stamp() == 1)
    // A build that can begin without state is accepted.
    try await StampedLibrary.inC(isStateOptional: true).install(3, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 3)
    #expect(fixture.lines("saved state, which is optional").count == 1)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    await fixture.shutdown()
  }

  @Test func `if a build does not accept an optional state, it starts without state`() async throws {
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    try StampedLibrary.install(try await build(.refusesState, optional: true), at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 2)
    #expect(fixture.lines("saved state, which is optional").count == 1)
    await fixture.shutdown()
  }

  @Test func `if one of three plugins in a swap fails, none changes, and new instances end in reverse order`()
    async throws
  {
    let plugins = [("a", "a.so"), ("b", "b.so"), ("c", "c.so")]
    let fixture = try SwapFixture(plugins) { folder in
      for (_, file) in plugins { try library.install(1, at: folder.path(file)) }
    }
    let load = try SwapLoad(fixture, plugins: plugins.map(\.0))
    for file in ["a.so", "b.so"] { try library.install(2, at: fixture.path(file)) }
    try StampedLibrary.install(try await StampedLibrary.inC(.failsActivate).build(3), at: fixture.path("c.so"))
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.changes.count == 3)
    for (plugin, _) in plugins { #expect(try await fixture.stamp(of: plugin) == 1) }
    let log = fixture.log.value.filter { $0.message.hasPrefix("activated=2") || $0.message.hasPrefix("destroyed=") }
    #expect(
      log.map { "\($0.stage ?? "") \($0.message)" } == [
        "a activated=2", "b activated=2", "c destroyed=3", "b destroyed=2", "a destroyed=2",
      ])
    let status = await fixture.engine.status
    #expect(
      status.generations.map(\.state.description) == ["active", "active", "active", "refused", "refused", "refused"])
    #expect(await load.stop().failures.isEmpty)
    await fixture.shutdown()
  }

  @Test func `when the budget of generations is used up, swaps are refused with the advice to restart`() async throws {
    let fixture = try SwapFixture(swap: #"{"generations": 2, "probation": {"duration": "0s"}}"#) { folder in
      try library.install(1, at: folder.path("a.so"))
    }
    let load = try SwapLoad(fixture)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    try await load.run()
    try library.install(3, at: fixture.path())
    let reached = "(swap.generationBytes); it is reached, so swaps will be refused; restart the program"
    #expect(
      fixture.log.value.contains { $0.message.hasPrefix("2 builds are mapped,") && $0.message.hasSuffix(reached) })
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("swap.generations") == true)
    #expect(error?.report.reason?.contains("restart the program") == true)
    #expect(try await fixture.stamp() == 2)
    let status = await fixture.engine.status
    #expect(status.budget.used == 2 && status.budget.limit == 2)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    await fixture.shutdown()
  }

  @Test func `before the budget of bytes is used up, a warning says so, and then swaps are refused`() async throws {
    let bytes = try LibraryFacts(bytes: library.build(1), path: "a.so").mappedBytes
    let swap = #"{"generationBytes": \#(bytes * 5 / 2), "probation": {"duration": "0s"}}"#
    let fixture = try SwapFixture(swap: swap) { try library.install(1, at: $0.path("a.so")) }
    #expect(fixture.lines("swap.generationBytes").isEmpty)
    try library.install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    let warning = try #require(fixture.log.value.first { $0.message.contains("swaps will be refused") })
    #expect(warning.level == .warning && warning.message.contains("(swap.generationBytes)"))
    try library.install(3, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("the limit of \(bytes * 5 / 2) (swap.generationBytes)") == true)
    #expect(try await fixture.stamp() == 2)
    let status = await fixture.engine.status
    #expect(status.budgetBytes.used == bytes * 2 && status.budgetBytes.limit == bytes * 5 / 2)
    await fixture.shutdown()
  }

  @Test func `swap.generations limits swaps, but not the builds at the start`() async throws {
    let swap = #"{"generations": 1, "probation": {"duration": "0s"}}"#
    let fixture = try SwapFixture([("a", "a.so"), ("b", "b.so")], swap: swap) { folder in
      for file in ["a.so", "b.so"] { try library.install(1, at: folder.path(file)) }
    }
    #expect(try await fixture.stamp(of: "b") == 1)
    try library.install(2, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("swap.generations") == true)
    await fixture.shutdown()
  }

  @Test func `if a plugin does not exist, the swap is refused, and the error names the existing plugins`() async throws
  {
    let fixture = try SwapFixture { try library.install(1, at: $0.path("a.so")) }
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap(plugins: ["b"]) }
    #expect(error?.report.reason == "no plugin is named \"b\"; there are \"a\"")
    await fixture.shutdown()
  }

  @Test func `a build that its trial refuses is not loaded, and the trial gets state and configuration`() async throws {
    struct Refusing: LibraryTrial {
      let seen: Watched<[TrialCandidate]>
      let hasBegun: Watched<Bool>
      func examine(_ candidate: TrialCandidate) async throws(PluginError) {
        guard hasBegun.value else { return }
        seen.update { $0.append(candidate) }
        throw PluginError(.loadFailed, .plugin(name: nil, path: candidate.path), "killed by the trial")
      }
    }
    let (seen, hasBegun) = (Watched<[TrialCandidate]>([]), Watched(false))
    let fixture = try SwapFixture(trial: Refusing(seen: seen, hasBegun: hasBegun)) {
      try library.install(1, at: $0.path("a.so"))
    }
    hasBegun.update { $0 = true }
    try library.install(2, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.reason?.contains("killed by the trial") == true)
    let candidate = try #require(seen.value.first)
    #expect(candidate.path == fixture.path() && candidate.copy.hasPrefix(fixture.path("store")))
    let instance = try #require(candidate.instances.first)
    #expect(instance.name == "a" && instance.configuration == #"{"header":"x-stamp-a"}"#)
    #expect(instance.state == SavedState(text: #"{"generations":1}"#, version: 7))
    #expect(instance.stateOwner == "stamps-generation")
    let status = await fixture.engine.status
    #expect(status.budget.used == 1)
    // The copy is removed when the last reference to it is released. The ending swap might hold a reference for a
    // moment.
    #expect(try await eventually { !FileTree.exists(candidate.copy) })
    await fixture.shutdown()
  }
}
