import SluiceTestKit
@testable import SluiceTrial
import Testing

@testable import SluicePluginHost

/// A library that misbehaves at the end of its process causes a warning, but is not refused.
struct TrialExitTests {
  private func warning(_ behaviour: String, _ defines: [String]) async throws -> String? {
    let fixture = try await TrialFixture(behaviour, defines)
    let said = Watched<[String]>([])
    let trial = try #require(
      HelperTrial(helper: TrialFixture.helper) { _, words in said.update { $0.append(words) } })
    try await trial.examine(fixture.candidate())
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
  func `the warning names the exit function that misbehaves, and the build is accepted`(
    _ defines: [String], _ words: String
  ) async throws {
    let warning = try #require(try await warning("ends-badly", defines))
    #expect(warning.hasPrefix(words), "\(warning)")
    #expect(warning.hasSuffix("do that work in deactivate or destroy"))
  }

  @Test(arguments: [[], ["ATEXIT"]])
  func `a harmless exit function causes no warning`(_ atexit: [String]) async throws {
    #expect(try await warning("ends-badly", atexit + ["DOES=(void)0"]) == nil)
  }

  @Test(arguments: ["minimal", "keeps-state", "tests-itself"])
  func `a library without exit functions causes no warning`(_ behaviour: String) async throws {
    #expect(try await warning(behaviour, []) == nil)
  }

  @Test func `a library that exits before the trial is over is refused`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "create-misbehaves", ["DOES=exit(7)"]))
    #expect(error.code == .trialExited && error.reason.contains("status 7 in create"))
  }
}
