import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

@testable import SluicePluginHost

/// The maximum number of suspended calls.
@Suite struct SuspensionLimitTests {
  @Test func `suspend and may_call answer LIMIT if no further call can be suspended`() async throws {
    let stage = try await StageFixture("asks-first", suspensionChunks: 0)
    _ = try stage.run(StageFixture.request())
    let told = stage.log.value.map(\.message).filter { $0.hasPrefix("request.11=") }
    #expect(told == ["request.11=5,5"])
  }
}
