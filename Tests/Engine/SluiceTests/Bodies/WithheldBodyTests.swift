import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestServers
import Testing

/// Tests whether the result of a failed transaction has the response body. This depends on which stages have seen the
/// body.
@Suite struct WithheldBodyTests {
  private static func result(
    of status: Int = 200, spillBytes: Int = 65_536, _ stages: (name: String, StageCode)...
  ) async throws -> TransactionResult {
    let server = try LoopbackServer { _ in .init(status: status, body: .bytes(Array("the secret".utf8))) }
    defer { server.stop() }
    var configuration = Configuration()
    configuration.transport.spillBytes = spillBytes
    configuration.maximumAttempts = 1
    for (name, stage) in stages { configuration.addStage(name, stage) }
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/")))
    await engine.shutdown()
    return result
  }

  private static let reads = StageCode(
    response: { response, _ in _ = response.body }, options: .wantsResponseBody)
  private static let redacts = StageCode(
    response: { response, _ in response.body = Array("redacted".utf8) }, options: .wantsResponseBody)
  private static let fails = StageCode(response: { _, _ in throw StageFailure(code: "refused", message: "not this one")
  })

  @Test(arguments: [4, 65_536])
  func `a body that a later stage could have changed is not in the result of a failure`(spillBytes: Int) async throws {
    let result = try await Self.result(
      spillBytes: spillBytes, ("reads", Self.reads), ("fails", Self.fails), ("redacts", Self.redacts))
    #expect(result.error?.code == "refused")
    #expect(result.response?.status == 200)
    #expect(result.response?.body.isEmpty == true)
  }

  @Test func `a body that every stage has seen is in the result of a failure that comes later`() async throws {
    let result = try await Self.result(of: 500, ("redacts", Self.redacts))
    #expect(result.error?.code == "http_status")
    #expect(result.response?.body.bytes == Array("redacted".utf8))
  }

  @Test func `if no stage handles responses, the result of a failure has the body from the wire`() async throws {
    let result = try await Self.result(of: 500, ("asks", StageCode(request: { _, _ in })))
    #expect(result.error?.code == "http_status")
    #expect(result.response?.body.bytes == Array("the secret".utf8))
  }
}
