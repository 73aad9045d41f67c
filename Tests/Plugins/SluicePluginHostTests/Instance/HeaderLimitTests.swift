import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceTestKit
import SluiceTestPipeline
import Testing

/// The limits for the header fields that stages add to a message.
@Suite struct HeaderLimitTests {
  @Test(arguments: [(100_000, 1), (100, 65_536)], [["ISSUES=0"], ["ISSUES=1"], ["SETS"], ["SETS", "ISSUES=1"]])
  func `a stage cannot add more fields than a received head may have, and the call says so`(
    _ sizes: (count: Int, bytes: Int), _ defines: [String]
  ) async throws {
    let stage = try await StageFixture(
      "adds-many-headers", defines: defines + ["COUNT=\(sizes.count)", "SIZE=\(sizes.bytes)"])
    let result = try stage.run(StageFixture.request("GET", [:]))
    #expect(result.error == nil, "\(String(describing: result.error))")
    let added = sizes.bytes == 1 ? 4096 : 3
    #expect(stage.told("added") == ["\(added)", "\(added)"] && stage.told("answer") == ["5", "5"])
    #expect(stage.told("shorter") == ["0", "0"])
    #expect(stage.transport.issued.first?.headers.count == added && result.response?.headers.count == added)
    let words = "header fields up to 4096 in a message, and up to 262144 bytes"
    #expect(stage.log.value.contains { $0.level == .warning && $0.message.contains(words) })
  }

  @Test func `the limit for the number of fields is that of a live document too`() async throws {
    let stage = try await StageFixture(
      "adds-many-headers", defines: ["SETS", "WITH_DOCUMENT", "COUNT=5000", "SIZE=1"])
    let result = try stage.run(StageFixture.request("GET", [:]))
    #expect(result.error == nil, "\(String(describing: result.error))")
    #expect(stage.told("added") == ["4096", "4096"] && stage.told("answer") == ["5", "5"])
  }

  @Test func `a document with too many bytes of fields fails the transaction`() async throws {
    let stage = try await StageFixture(
      "adds-many-headers", defines: ["WITH_DOCUMENT", "COUNT=100", "SIZE=65536"])
    let result = try stage.run(StageFixture.request("GET", [:]))
    #expect(
      result.error?.message.contains("more than 262144 bytes of header fields") == true,
      "\(String(describing: result.error))")
    #expect(stage.transport.issued.isEmpty)
  }
}
