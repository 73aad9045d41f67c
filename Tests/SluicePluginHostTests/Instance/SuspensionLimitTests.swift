import SluicePipeline
import SluiceTestKit
import Testing

@testable import SluicePluginHost

/// The bound of suspended calls.
@Suite struct SuspensionLimitTests {
  @Test func `suspend answers LIMIT where no further call can be suspended, and so does may_call`() async throws {
    let stage = try await StageFixture("asks-first", suspensionChunks: 0)
    _ = try stage.run(StageFixture.request())
    let told = stage.log.value.map(\.message).filter { $0.hasPrefix("request.11=") }
    #expect(told == ["request.11=5,5"])
  }
}
