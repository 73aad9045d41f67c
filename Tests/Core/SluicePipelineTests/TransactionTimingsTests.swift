import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// The timings of a transaction's last hop.
@Suite struct TransactionTimingsTests {
  private final class Refusing: Interceptor {
    let capabilities: StageCapabilities = [.issue]
    func interceptIssue(_ exchange: Exchange) -> Verdict { .fail(StageFailure(code: "no", message: "")) }
  }

  @Test func `if an issue stage fails a hop, the result still has timings`() throws {
    let loop = StubLoop()
    let transport = StubTransport(loop: loop)
    let environment = LoopEnvironment(loop: loop, transport: transport)
    let pipeline = Pipeline(issueStages: [StageBinding(name: "stage", interceptor: Refusing())])
    let request = Request(url: HTTPURL("http://example.com/a"))
    var result: TransactionResult?
    loop.perform { Transaction.begin(request, on: environment, through: pipeline) { result = $0 } }
    #expect(result?.error?.code == "no")
    #expect(result?.timings != nil)
  }
}
