import SluiceTestKit
import Testing

@testable import SluicePluginHost

/// What a library does at the end of a process is no reason to refuse it, and is told.
struct ProbeExitTests {
  private func warning(_ behaviour: String, _ defines: [String]) async throws -> String? {
    let fixture = try await ProbeFixture(behaviour, defines)
    let said = Watched<[String]>([])
    let probe = try #require(
      HelperProbe(helper: ProbeFixture.helper) { _, words in said.update { $0.append(words) } })
    try await probe.examine(fixture.candidate())
    withExtendedLifetime(fixture) {}
    #expect(said.value.count < 2)
    return said.value.first
  }

  @Test(arguments: [
    ([], "crashes with SIGABRT in a destructor of the library"),
    (["ATEXIT"], "crashes with SIGABRT in a function that it registered with atexit"),
    (["ATEXIT", "DOES=hang()"], "does not return in a function that it registered with atexit"),
    (["DOES=_exit(7)"], "ends the process with status 7 in a destructor of the library"),
  ])
  func `a function that misbehaves at the end of the process is named, and the build is taken`(
    _ defines: [String], _ words: String
  ) async throws {
    let warning = try #require(try await warning("ends-badly", defines))
    #expect(warning.hasPrefix(words), "\(warning)")
    #expect(warning.hasSuffix("do that work in deactivate or destroy"))
  }

  @Test(arguments: [[], ["ATEXIT"]])
  func `one that does no harm is nothing to speak of`(_ atexit: [String]) async throws {
    #expect(try await warning("ends-badly", atexit + ["DOES=(void)0"]) == nil)
  }

  @Test(arguments: ["minimal", "keeps-state", "tests-itself"])
  func `a library without any is nothing to speak of`(_ behaviour: String) async throws {
    #expect(try await warning(behaviour, []) == nil)
  }

  @Test func `one that exits before the trial is over is refused as before`() async throws {
    let error = try #require(try await ProbeFixture.refusal(of: "create-misbehaves", ["DOES=exit(7)"]))
    #expect(error.code == .probeExited && error.reason.contains("status 7 in create"))
  }
}
