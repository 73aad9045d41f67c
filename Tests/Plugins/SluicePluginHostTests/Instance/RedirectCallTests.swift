import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// `on_redirect` of real libraries.
struct RedirectCallTests {
  private static func answer(_ request: Request) -> StubTransport.Reply {
    guard request.url.path == "/path" else { return .response(Response(status: 200)) }
    return .response(
      Response(status: 302, headers: ["location": "https://other.com/next"], body: .text("elsewhere")))
  }

  private static func stage(_ defines: String...) async throws -> StageFixture {
    try await StageFixture("decides-redirects", defines: defines, answer: answer)
  }

  @Test func `a stage sees the target of a redirect, and can change nothing`() async throws {
    let stage = try await Self.stage()
    let result = try stage.run(StageFixture.request("POST", body: .text("x")))
    #expect(result.response?.status == 200)
    #expect(stage.told("hop") == ["0"])
    #expect(stage.told("status") == ["302"])
    #expect(stage.told("seen") == ["302"])
    #expect(stage.told("cross") == ["1"])
    #expect(stage.told("url") == ["https://other.com/next"])
    #expect(stage.told("method") == ["GET"])
    #expect(stage.told("write") == stage.told("write-response"))
    #expect(stage.instance.violations[.refusedWrite] == 2)
    #expect(stage.transport.issued.map(\.url.string) == ["http://example.com/path?a=1", "https://other.com/next"])
  }

  @Test func `a stage can make the redirect itself the response, with its body`() async throws {
    let stage = try await Self.stage("DECISION=SLUICE_VERDICT_RESPOND")
    let result = try stage.run(StageFixture.request())
    #expect(result.response?.status == 302)
    #expect(result.response?.body.bytes == Array("elsewhere".utf8))
    #expect(stage.transport.issued.count == 1)
  }

  @Test func `a stage can refuse a redirect, and the error names the stage`() async throws {
    let stage = try await Self.stage("DECISION=SLUICE_VERDICT_FAIL")
    let error = try stage.run(StageFixture.request()).error
    #expect(error == TransactionError(code: "no_way", message: "this redirect is not wanted", stage: "stage"))
    #expect(stage.transport.issued.count == 1)
  }

  @Test(arguments: [("SLUICE_VERDICT_CONTINUE", 200), ("SLUICE_VERDICT_RESPOND", 302)])
  func `a stage can suspend, and decide about a redirect later`(decision: String, status: Int) async throws {
    let stage = try await Self.stage("LATE=1", "DECISION=\(decision)")
    let result = try stage.run(StageFixture.request())
    #expect(result.error == nil)
    #expect(result.response?.status == status)
    #expect(stage.told("suspend") == ["0"])
    #expect(stage.told("enter") == ["1"])
    #expect(stage.told("resume") == ["0"])
    #expect(stage.told("cancel").isEmpty)
  }

  @Test func `if a stage suspends and then refuses a redirect, the error has the stage's reason`() async throws {
    let stage = try await Self.stage("LATE=1", "DECISION=SLUICE_VERDICT_FAIL")
    #expect(try stage.run(StageFixture.request()).error?.code == "no_way")
  }

  @Test(arguments: ["SLUICE_VERDICT_RETRY", "77"])
  func `any other verdict is a fault, and onFault decides whether the stage is skipped`(
    verdict: String
  ) async throws {
    let stage = try await Self.stage("DECISION=\(verdict)")
    let error = try stage.run(StageFixture.request()).error
    #expect(error?.code == .stageFault)
    stage.onFault = .skip
    #expect(try stage.run(StageFixture.request()).response?.status == 200)
  }

  @Test func `a stage that never answers is cancelled at its deadline or at the time limit of the attempt`()
    async throws
  {
    let stage = try await Self.stage("NEVER=1")
    stage.stageDeadline = .milliseconds(200)
    let outcome = stage.begin(try StageFixture.request())
    #expect(!stage.loop.run(upTo: .zero) { outcome.result != nil })
    stage.loop.advance(by: .seconds(1))
    #expect(outcome.result?.error?.code == .stageTimeout)
    #expect(stage.told("cancel") == ["1"])

    stage.stageDeadline = nil
    let second = stage.begin(try StageFixture.request())
    #expect(!stage.loop.run(upTo: .zero) { second.result != nil })
    stage.loop.advance(by: .seconds(31))
    #expect(stage.loop.run { second.result != nil })
    #expect(second.result?.error?.code == "timeout")
    #expect(stage.told("cancel") == ["1", "1"])
  }
}
