import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// The effects of the verdicts that a plugin returns.
struct VerdictTests {
  @Test func `a stage can fail a transaction with its own code and message`() async throws {
    let stage = try await StageFixture("answers")
    let result = try stage.run(StageFixture.request("GET", ["x-answer": "fail"]))
    #expect(result.error == TransactionError(code: "no_luck", message: "not today", stage: "stage"))
  }

  @Test func `an invalid error code of a stage is replaced`() async throws {
    let stage = try await StageFixture("answers")
    let result = try stage.run(StageFixture.request("GET", ["x-answer": "fail-badly"]))
    #expect(result.error?.code == "stage_failed")
    #expect(stage.instance.violations[.invalidArgument] == 1)
  }

  @Test func `a stage can respond, and then nothing is sent on the wire`() async throws {
    let stage = try await StageFixture("answers")
    let result = try stage.run(StageFixture.request("GET", ["x-answer": "respond"]))
    #expect(result.error == nil)
    #expect(result.response?.status == 299)
    #expect(result.response?.headers["x-made"] == "here")
    #expect(result.response?.body.bytes == Array("made".utf8))
    #expect(stage.transport.issued.isEmpty)
  }

  @Test func `a response of a stage with an impossible status fails the transaction`() async throws {
    let stage = try await StageFixture("answers")
    let result = try stage.run(StageFixture.request("GET", ["x-answer": "respond-badly"]))
    #expect(result.error?.code == "stage_failed")
    #expect(result.response == nil)
  }

  @Test func `a response that a stage sets is dropped if the verdict is not RESPOND`() async throws {
    let stage = try await StageFixture("answers")
    let result = try stage.run(StageFixture.request("GET", ["x-answer": "respond-and-go-on"]))
    #expect(result.response?.status == 200)
  }

  @Test func `on_failure gets the reason, and can respond`() async throws {
    let stage = try await StageFixture("answers") { _ in
      .connectFailure(TransportError(.connect, "refused", isBeforeSending: true))
    }
    let result = try stage.run(StageFixture.request())
    #expect(result.error == nil)
    #expect(result.response?.status == 203)
    #expect(stage.told("code") == ["connect"])
    #expect(stage.told("before") == ["1"])
  }

  @Test(arguments: [
    ("SLUICE_VERDICT_SUSPENDED", Violation.suspendedWithoutToken), ("77", .unknownVerdict), ("-1", .unknownVerdict),
  ])
  func `a verdict that breaks the rules is a fault of the stage`(verdict: String, kind: Violation) async throws {
    let stage = try await StageFixture("breaks-verdicts", defines: ["VERDICT=\(verdict)"])
    let result = try stage.run(StageFixture.request())
    #expect(result.error?.code == .stageFault)
    #expect(result.error?.stage == "stage")
    #expect(stage.instance.violations[kind] == 1)
    stage.onFault = .skip
    #expect(try stage.run(StageFixture.request()).error == nil)
  }

  @Test func `FAIL without a reason gets the code stage_failed`() async throws {
    let stage = try await StageFixture("breaks-verdicts", defines: ["VERDICT=SLUICE_VERDICT_FAIL"])
    #expect(try stage.run(StageFixture.request()).error?.code == "stage_failed")
  }

  @Test func `RESPOND without a response is a fault`() async throws {
    let stage = try await StageFixture("breaks-verdicts", defines: ["VERDICT=SLUICE_VERDICT_RESPOND"])
    #expect(try stage.run(StageFixture.request()).error?.code == .stageFault)
  }
}
