import Sluice
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTestServers
import Testing

/// Helpers for tests of stages. These tests check what users of other HTTP clients expect from interceptors. Request
/// and response stages correspond to the application interceptors of those clients, and issue stages to their network
/// interceptors.
protocol InterceptorScenario {}

/// An error without a code, which a stage throws.
struct Boom: Error, CustomStringConvertible { let description = "boom!" }

extension InterceptorScenario {
  /// Runs one request through the stages in the given order.
  func run(
    _ request: Request, _ stages: StageCode..., change: (inout Configuration) -> Void = { _ in }
  ) async throws -> TransactionResult {
    let engine = try Engine(Self.configuration(stages, change))
    let result = await engine.transaction(request)
    await engine.shutdown()
    return result
  }

  static func configuration(
    _ stages: [StageCode], _ change: (inout Configuration) -> Void = { _ in }
  ) -> Configuration {
    var configuration = Configuration()
    for (number, stage) in stages.enumerated() { configuration.addStage("stage-\(number)", stage) }
    change(&configuration)
    return configuration
  }

  func withServer(
    _ handler: @escaping @Sendable (ServerRequest) -> ServerResponse = { _ in .text("abc") },
    _ body: (LoopbackServer, Request) async throws -> Void
  ) async throws {
    let server = try LoopbackServer { handler($0) }
    defer { server.stop() }
    try await body(server, Request(url: HTTPURL(server.baseURL + "/a")))
  }

  static func text(_ response: Response?) -> String? {
    response?.body.bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  static func upperCase(_ body: [UInt8]?) -> [UInt8]? {
    body.map { Array(String(decoding: $0, as: UTF8.self).uppercased().utf8) }
  }
}
