import Glibc
import SluiceTestKit
@testable import SluiceTrial
import Testing

@testable import SluicePluginHost

/// Processes that a library starts during its trial do not outlive the trial.
@Suite(.serialized) struct TrialDescendantsTests {
  /// Runs a trial whose fixture starts a process and writes its process id into a file. Returns the id and the refusal.
  private func process(_ defines: [String], deadline: Duration = Patience.limit) async throws -> (pid_t, PluginError?) {
    let folder = try TemporaryDirectory()
    let file = folder.path("number")
    let refusal = try await TrialFixture.refusal(
      of: "constructor-forks", defines + ["NUMBER_FILE=\"\(file)\""], deadline: deadline)
    let number = try #require(pid_t(try FileTree.readText(file).filter(\.isNumber)))
    return (number, refusal)
  }

  @Test(arguments: [[], ["DAEMON=1"]])
  func `a process that a constructor starts is killed and reported, even a daemon`(_ defines: [String]) async throws {
    let (number, refusal) = try await process(defines)
    let error = try #require(refusal)
    #expect(error.code == .trialLeftProcess)
    #expect(error.reason.contains("continued after the trial"), "\(error)")
    #expect(kill(number, 0) != 0, "process \(number) is still there")
  }

  @Test(arguments: [["HANG=1"], ["HANG=1", "DAEMON=1"]])
  func `at the trial's deadline all processes that the library started are killed`(_ defines: [String]) async throws {
    let (number, refusal) = try await process(defines, deadline: .seconds(1))
    #expect(refusal?.code == .trialTimedOut)
    #expect(kill(number, 0) != 0, "process \(number) is still there")
  }

  @Test func `a trial that is cancelled ends at once, with all processes that the library started`() async throws {
    let folder = try TemporaryDirectory()
    let file = folder.path("number")
    let fixture = try await TrialFixture("constructor-forks", ["HANG=1", "DAEMON=1", "NUMBER_FILE=\"\(file)\""])
    let trial = try #require(HelperTrial(helper: TrialFixture.helper))
    let candidate = fixture.candidate(deadline: .seconds(600))
    let task = Task { try await trial.examine(candidate) }
    let hasStarted = try await eventually { (try? FileTree.readText(file))?.hasSuffix("\n") == true }
    #expect(hasStarted)
    task.cancel()
    let result = await task.result
    #expect(throws: PluginError.self) { try result.get() }
    let number = try #require(pid_t(try FileTree.readText(file).filter(\.isNumber)))
    let hasEnded = try await eventually { kill(number, 0) != 0 }
    #expect(hasEnded)
  }
}
