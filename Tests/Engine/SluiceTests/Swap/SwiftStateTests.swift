import Sluice
import SluicePluginHost
import SluiceTestKit
import SluiceTrial
import Testing

/// Plugins in Swift whose state does not survive a swap, because methods of `StatefulPlugin` throw or crash. The tests
/// run one at a time because each makes its own load.
@Suite(.serialized) struct SwiftStateTests {
  typealias Misbehaviour = StampedLibrary.SwiftMisbehaviour

  private static func fixture(_ library: StampedLibrary, isTried: Bool) throws -> SwapFixture {
    let trial = isTried ? HelperTrial(helper: BuiltProducts.executable("sluice")) : nil
    #expect(!isTried || trial != nil)
    return try SwapFixture(trial: trial) { try library.install(1, at: $0.path("a.so")) }
  }

  /// Swaps under load to a build that must be refused, and returns the refusal. Checks that build 1 continues to serve.
  private static func refusal(
    old: Misbehaviour = .nothing, new: Misbehaviour = .nothing, isTried: Bool
  ) async throws -> SwapError? {
    let library = try StampedLibrary.inSwift(old)
    let fixture = try fixture(library, isTried: isTried)
    let load = try SwapLoad(fixture)
    try await load.run()
    try StampedLibrary.inSwift(new).install(2, at: fixture.path())
    let error = await #expect(throws: SwapError.self) { try await fixture.engine.swap() }
    #expect(error?.report.outcome == .refused && error?.report.snapshot == 1)
    #expect(error?.report.reason?.contains("\"a\"") == true, "\(String(describing: error))")
    #expect(try await fixture.stamp() == 1)
    #expect(fixture.lines("activated=2").isEmpty && fixture.lines("deactivated=1").isEmpty)
    // After the refusal, a build that can start without state is accepted.
    try StampedLibrary.inSwift(isStateOptional: true).install(3, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 3)
    try await load.run()
    let counts = await load.stop()
    #expect(counts.failures.isEmpty && counts.torn == 0, "\(counts)")
    await fixture.shutdown()
    return error
  }

  @Test(arguments: [true, false]) func `if saveState throws, the old build stays, and the reason quotes the error`(
    isTried: Bool
  ) async throws {
    let error = try await Self.refusal(old: .savesNone, isTried: isTried)
    #expect(error?.report.reason?.contains("the moon cannot be saved") == true, "\(String(describing: error))")
  }

  @Test(
    arguments: [
      (.refusesState, "an old moon"), (.failsToMigrate, "a moon of version 3"), (.wantsMore, "moons"),
    ] as [(Misbehaviour, String)], [true, false])
  func `if loadState, migrate or the decoder throws, the old build stays, and the reason quotes the error`(
    _ given: (misbehaviour: Misbehaviour, words: String), isTried: Bool
  ) async throws {
    let error = try await Self.refusal(new: given.misbehaviour, isTried: isTried)
    #expect(error?.report.reason?.contains(given.words) == true, "\(String(describing: error))")
  }

  /// The reason has the message of Swift's runtime without the backtrace that follows it.
  @Test func `a loadState that traps ends only the trial's process`() async throws {
    let error = try await Self.refusal(new: .trapsInLoad, isTried: true)
    let reason = error?.report.reason ?? ""
    #expect(reason.contains("SIG") && reason.contains("in load of the state"), "\(reason)")
    #expect(reason.contains("Fatal error: the moon fell;") && !reason.contains("libc.so"), "\(reason)")
  }

  @Test(arguments: [Misbehaviour.refusesState, .failsToMigrate, .wantsMore], [true, false])
  func `a build that declares its state optional starts without state if it does not accept the state`(
    _ misbehaviour: Misbehaviour, isTried: Bool
  ) async throws {
    let fixture = try Self.fixture(StampedLibrary.inSwift(), isTried: isTried)
    try StampedLibrary.inSwift(misbehaviour, isStateOptional: true).install(2, at: fixture.path())
    #expect(try await fixture.engine.swap().outcome == .published)
    #expect(try await fixture.stamp() == 2)
    #expect(fixture.lines("saved state, which is optional").count == 1 && fixture.lines("before=").isEmpty)
    await fixture.shutdown()
  }

  @Test(arguments: [true, false]) func `a state of an older version is migrated`(isTried: Bool) async throws {
    let fixture = try Self.fixture(StampedLibrary.inSwift(), isTried: isTried)
    for (misbehaviour, number) in [(Misbehaviour.nothing, 2), (.migrates, 3)] {
      try StampedLibrary.inSwift(misbehaviour).install(number, at: fixture.path())
      #expect(try await fixture.engine.swap().outcome == .published)
      #expect(try await fixture.stamp() == number)
    }
    #expect(fixture.lines("before=") == ["before=1", "before=2"])
    await fixture.shutdown()
  }
}
