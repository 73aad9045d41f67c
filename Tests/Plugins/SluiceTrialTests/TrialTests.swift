import Glibc
import SluiceJSON
import SluiceTestKit
@testable import SluiceTrial
import Testing

@testable import SluicePluginHost

/// Libraries that misbehave in the trial before a swap. They harm no other process.
struct TrialTests {
  @Test func `a correct library is accepted`() async throws {
    #expect(try await TrialFixture.refusal(of: "minimal") == nil)
  }

  @Test func `if a constructor exits, the error has the exit status`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "constructor-exits"))
    #expect(error.code == .trialExited)
    #expect(error.reason.contains("status \(Sanitizer.statusOfExitWhileLoading) while it was loaded"), "\(error)")
    #expect(error.isRefusal)
  }

  @Test func `if a constructor crashes, the error has the signal and the last line of output`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "constructor-crashes"))
    #expect(error.code == .trialCrashed)
    #expect(error.reason.contains("SIGSEGV while it was loaded"), "\(error)")
    #expect(error.reason.contains("fixture: about to crash"), "\(error)")
  }

  @Test(arguments: [[], ["SPIN=1"]])
  func `a constructor that hangs is killed at the deadline`(_ defines: [String]) async throws {
    let error = try #require(
      try await TrialFixture.refusal(of: "constructor-hangs", defines, deadline: .milliseconds(300)))
    #expect(error.code == .trialTimedOut)
    #expect(error.reason.contains("while it was loaded"), "\(error)")
  }

  @Test func `twenty megabytes of output do not block the trial, and an error shows the last line`() async throws {
    #expect(try await TrialFixture.refusal(of: "constructor-prints") == nil)
    let error = try #require(try await TrialFixture.refusal(of: "constructor-prints", ["CRASH"]))
    #expect(error.reason.contains("SIGABRT"), "\(error)")
    #expect(error.reason.contains("the last line"), "\(error)")
    #expect(error.reason.utf8.count < 1000)
  }

  @Test func `a library that opens files endlessly is stopped at its limit`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "constructor-opens-files"))
    #expect(error.code == .loadFailed)
    #expect(error.reason == "cannot be inspected, because it has used up all file descriptors")
  }

  @Test(.disabled(if: Sanitizer.isOn, "with a sanitizer the address space is not limited"))
  func `a library that allocates endlessly is stopped at its limit`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "constructor-allocates"))
    #expect(error.reason.contains("SIGABRT while it was loaded"), "\(error)")
  }

  @Test func `if create hangs, exits or crashes, the error names the instance`() async throws {
    for (defines, code, words) in [
      ("DOES=hang()", PluginError.Code.trialTimedOut, "in create of \"stage\""),
      ("DOES=exit(7)", .trialExited, "status 7 in create of \"stage\""),
      ("DOES=abort()", .trialCrashed, "SIGABRT in create of \"stage\""),
    ] {
      let deadline = code == .trialTimedOut ? Duration.milliseconds(500) : Patience.limit
      let error = try #require(
        try await TrialFixture.refusal(of: "create-misbehaves", [defines], deadline: deadline))
      #expect(error.code == code)
      #expect(error.reason.contains(words), "\(error)")
    }
  }

  @Test func `a constructor that closes every descriptor is reported`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "constructor-closes-descriptors"))
    #expect(error.code == .trialClosedDescriptors)
    #expect(error.reason.contains("closed descriptors that it had not opened while it was loaded"), "\(error)")
    #expect(error.isRefusal)
  }

  @Test(arguments: [("IN_LOAD", "while it was loaded"), ("IN_CREATE", "in create of")])
  func `a library that closes the descriptors of the event loop is reported`(
    _ moment: String, _ words: String
  ) async throws {
    // The channel of the trial has one of the numbers below these.
    let error = try #require(
      try await TrialFixture.refusal(of: "acts", ["\(moment)=do{for(int i=5;i<64;i++)close(i);}while(0)"]))
    #expect(error.code == .trialClosedDescriptors, "\(error)")
    #expect(error.reason.contains("closed descriptors that it had not opened \(words)"), "\(error)")
  }

  @Test func `a constructor that kills its parent is reported`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "constructor-kills-its-parent"))
    #expect(error.code == .trialKilledWatcher)
    #expect(error.reason.contains("ended the process that watched its trial: SIGKILL arrived while"), "\(error)")
    #expect(error.isRefusal)
  }

  @Test func `if destroy hangs, the error names the key that sets the trial's time limit`() async throws {
    let error = try #require(
      try await TrialFixture.refusal(
        of: "create-misbehaves", ["DOES=hang()", "WHERE=destroy"], deadline: .milliseconds(500)))
    #expect(error.code == .trialTimedOut)
    #expect(error.reason.contains("in destroy of \"stage\""), "\(error)")
    #expect(error.advice?.contains("swap.trial") == true)
  }

  @Test func `a library whose destroy crashes is refused before the swap`() async throws {
    let error = try #require(
      try await TrialFixture.refusal(of: "create-misbehaves", ["WHERE=destroy", "DOES=abort()"]))
    #expect(error.reason.contains("SIGABRT in destroy of \"stage\""), "\(error)")
  }

  @Test func `a thread that a library leaves behind ends with the trial`() async throws {
    #expect(try await TrialFixture.refusal(of: "create-misbehaves", ["DOES=leave_thread()"]) == nil)
  }

  @Test func `the error shows a plugin's output without the strings of its configuration`() async throws {
    let error = try #require(
      try await TrialFixture.refusal(
        of: "create-misbehaves", ["DOES=abort()"], configuration: ["token": "hunter2-hunter2"]))
    #expect(error.reason.contains("my token is …"), "\(error)")
    #expect(!error.description.contains("hunter2"))
  }

  @Test func `if create fails, the error has the plugin's message`() async throws {
    let error = try #require(try await TrialFixture.refusal(of: "breaks-lifecycle", ["CREATE=SLUICE_STATUS_FAILED"]))
    #expect(error.code == .createFailed)
    #expect(error.reason == "the moon is missing")
    #expect(error.description.contains("plugin \"stage\""))
    let none = try #require(try await TrialFixture.refusal(of: "breaks-lifecycle", ["INSTANCE=NULL"]))
    #expect(none.reason.contains("gave no instance"))
  }

  @Test func `a configuration that violates the plugin's schema is refused, and the error names the key`() async throws
  {
    let error = try #require(try await TrialFixture.refusal(of: "breaks-lifecycle", configuration: ["token": 1]))
    #expect(error.code == .configuration)
    #expect(error.reason.contains("/token"))
  }

  @Test(arguments: [("undefined-symbol", "undefined symbol"), ("entry-returns-null", "")])
  func `a library that cannot be loaded, or whose entry point fails, is refused in the trial`(
    _ behaviour: String, _ words: String
  ) async throws {
    let error = try #require(try await TrialFixture.refusal(of: behaviour))
    #expect([.loadFailed, .entryFailed].contains(error.code))
    #expect(error.reason.contains(words), "\(error)")
  }

  @Test func `a trial does not call activate`() async throws {
    #expect(try await TrialFixture.refusal(of: "breaks-lifecycle", ["ACTIVATE=SLUICE_STATUS_FAILED"]) == nil)
  }

  @Test func `an invalid trial helper is reported as such, not as a refusal`() async throws {
    let fixture = try await TrialFixture("minimal")
    for path in ["/bin/true", "/nonexistent/sluice"] {
      let trial = try #require(HelperTrial(helper: path))
      let error = await #expect(throws: PluginError.self) { try await trial.examine(fixture.candidate()) }
      #expect(error?.code == .trialUnavailable)
      #expect(error?.description.contains(path) == true, "\(String(describing: error))")
      #expect(error?.isRefusal == false)
    }
  }
}
