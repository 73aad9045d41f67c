import SluiceMessages
import SluicePipeline
import Testing

@testable import SluicePluginHost

/// Texts that the host lends to a plugin do not change until the call returns, even if the plugin changes the message.
struct LentTextTests {
  private static let text = String(repeating: "lent ", count: 100)

  private static func run(_ defines: [String]) async throws -> StageFixture {
    let headers: HeaderFields = ["x-lent": String(repeating: "h", count: 300), "content-type": "text/plain"]
    let stage = try await StageFixture("reads-lent-texts", defines: defines) { _ in
      .response(Response(status: 200, headers: headers, body: .bytes(Array(text.utf8))))
    }
    let result = try stage.run(StageFixture.request("POST", headers, body: .bytes(Array(text.utf8))))
    #expect(result.error == nil)
    return stage
  }

  @Test(arguments: [[], ["WITH_DOCUMENT"]])
  func `a lent text is unchanged after the host has replaced it`(defines: [String]) async throws {
    let stage = try await Self.run(defines)
    for name in ["header_get", "header_at", "header_remove", "body_get", "body_set"] {
      #expect(stage.told(name) == ["1", "1"], "\(name)")
    }
    for name in ["context", "method_get", "url_get"] { #expect(stage.told(name) == ["1"], "\(name)") }
  }

  @Test(arguments: [["RESPOND"], ["RESPOND", "WITH_DOCUMENT"]])
  func `a lent text of a response is unchanged after respond has replaced the response`(defines: [String]) async throws
  {
    let stage = try await Self.run(defines)
    #expect(stage.told("respond-header") == ["1"])
    #expect(stage.told("respond-body") == ["1"])
  }
}
