import Glibc
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// Tokens of suspended calls: who can resume them, when, and with which effect.
struct SuspensionTests {
  @Test func `a token can be resumed only once, even before its call has returned`() async throws {
    let stage = try await StageFixture("resumes-twice")
    let result = try stage.run(StageFixture.request())
    #expect(result.error == nil)
    #expect(stage.told("suspend") == ["0"])
    #expect(stage.told("suspend-again") == ["2"])
    #expect(stage.told("suspended") == ["-1"])
    #expect(stage.told("forged") == ["3"])
    #expect(stage.told("forged-loop") == ["3"])
    #expect(stage.told("first") == ["0"])
    #expect(stage.told("second") == ["2"])
    #expect(stage.told("late") == ["1"])
    #expect(stage.instance.violations[.secondResume] >= 1)
    #expect(stage.instance.violations[.staleToken] >= 2)
  }

  @Test func `a stage can resume on its own thread, and change headers before it resumes`() async throws {
    let stage = try await StageFixture("resumes-elsewhere")
    let result = try stage.run(StageFixture.request())
    #expect(result.error == nil)
    #expect(stage.transport.issued.first?.headers["x-late"] == "yes")
    #expect(stage.transport.issued.first?.headers.contains("x-after") == false)
    #expect(stage.told("enter-elsewhere") == ["0"])
    #expect(stage.told("post-nowhere") == ["-1"])
    try await stage.log.wait { $0.contains { $0.message == "post=0" } }
    #expect(stage.told("enter") == ["1"])
    #expect(stage.told("enter-again") == ["1"])
    #expect(stage.told("resume") == ["0"])
    #expect(stage.told("after") == ["3"])
    #expect(stage.told("enter-late") == ["0"])
  }

  @Test func `the details of a late verdict can be set through the exchange that enter returns`() async throws {
    let failing = try await StageFixture("resumes-elsewhere", defines: ["VERDICT=SLUICE_VERDICT_FAIL"])
    let failure = try failing.run(StageFixture.request()).error
    #expect(failure == TransactionError(code: "too_late", message: "the thread said no", stage: "stage"))
    let responding = try await StageFixture("resumes-elsewhere", defines: ["VERDICT=SLUICE_VERDICT_RESPOND"])
    #expect(try responding.run(StageFixture.request()).response?.status == 203)
  }

  @Test func `a call that misses its deadline is cancelled once and cannot be resumed`() async throws {
    let stage = try await StageFixture("resumes-elsewhere", defines: ["NEVER=1"])
    stage.stageDeadline = .milliseconds(200)
    let outcome = stage.begin(try StageFixture.request())
    #expect(outcome.result == nil)
    stage.loop.advance(by: .seconds(1))
    #expect(outcome.result?.error?.code == .stageTimeout)
    #expect(stage.told("cancel") == ["1"])
    #expect(stage.told("resume-cancelled") == ["3"])
  }

  @Test func `if two threads resume a token at once, exactly one succeeds (10,000 rounds, a million in a soak)`()
    async throws
  {
    let rounds = getenv("SLUICE_SOAK") == nil ? 10_000 : 1_000_000
    let stage = try await StageFixture("races-resumes")
    let request = try StageFixture.request()
    for _ in 0..<rounds / 50 {
      let outcomes = (0..<50).map { _ in stage.begin(request) }
      #expect(stage.loop.run(until: { outcomes.allSatisfy { $0.result != nil } }))
    }
    stage.instance.deactivate(within: .seconds(5))
    let counts = stage.numbers("fixture.counts", CLong.self, count: 4)
    #expect(counts[0] == rounds)
    #expect(counts[1] == rounds)
    #expect(counts[2] + counts[3] == rounds)
  }
}
