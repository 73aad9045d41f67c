import SluiceTestKit
@testable import SluiceTrial
import Testing

@testable import SluicePluginHost

/// A library that changes what all plugins share with the program causes a warning, but is not refused.
struct TrialProcessTests {
  private func warnings(_ define: String) async throws -> [String] {
    let fixture = try await TrialFixture("acts", [define])
    let said = Watched<[String]>([])
    let trial = try #require(
      HelperTrial(helper: TrialFixture.helper) { _, words in said.update { $0.append(words) } })
    try await trial.examine(fixture.candidate())
    withExtendedLifetime(fixture) {}
    return said.value
  }

  @Test(arguments: [
    (
      #"IN_LOAD=chdir("/")"#,
      #"in a constructor, which ran while the library was loaded, it changed the current folder from "#
    ),
    ("IN_CREATE=close(2)", "in create, it closed descriptor 2 (standard error)"),
    ("IN_CREATE=dup2(0, 1)", "in create, it replaced descriptor 1 (standard output)"),
    ("IN_CREATE=umask(0)", "in create, it changed the umask from 0"),
    (#"IN_CREATE=setlocale(LC_ALL, "C.UTF-8")"#, #"in create, it changed the locale from "C" to "#),
    ("IN_CREATE=fesetround(FE_DOWNWARD)", "in create, it changed the rounding or flush mode of the host's thread"),
    ("IN_CREATE=BLOCK", "in create, it changed the signal mask of the host's thread: SIGUSR1 is blocked"),
  ])
  func `the warning names the call and what it changed`(_ define: String, _ words: String) async throws {
    let warnings = try await warnings(define)
    #expect(warnings.count == 1)
    #expect(warnings.first?.hasPrefix(words) == true, "\(warnings)")
    #expect(warnings.first?.hasSuffix(ProcessWatch.advice) == true)
  }

  @Test func `a library that changes nothing causes no warning`() async throws {
    #expect(try await warnings("UNUSED").isEmpty)
  }
}
