import Sluice
import SluicePlugin
import SluiceServer
import SluiceSupport
import SluiceTestKit
import SluiceTestServers
import Testing

/// A plugin that is part of the program. It has no entry point, because only a library needs one.
private struct Greeter: Plugin, RequestInterceptor, ResponseInterceptor, FailureInterceptor, BodyInterceptor,
  TransactionTracer
{
  struct Configuration: Decodable, Sendable {
    var greeting: String
    var name: String
  }

  static let information = PluginInformation(id: "org.example.greeter", version: "1.2.0", summary: "Greets.")
  static let configurationDefaults: JSONValue? = ["name": "world"]
  static let configurationSchema: String? = #"{"properties": {"greeting": {"maxLength": 5}}}"#
  static let bodySides: Set<BodySide> = [.response]
  static let lifecycle = Watched<[String]>([])

  private let configuration: Configuration
  private let requests: Counter

  init(configuration: Configuration, host: PluginHost) throws {
    self.configuration = configuration
    requests = try host.counter("requests", "Requests greeted.")
    Self.lifecycle.update { $0.append("init \(host.instanceName)") }
  }

  func activate() { Self.lifecycle.update { $0.append("activate") } }

  func deactivate(timeout: Duration) { Self.lifecycle.update { $0.append("deactivate") } }

  func intercept(_ request: StageRequest, context: RequestContext) async throws {
    await Task.yield()
    requests.add(1)
    request.headers["x-greeting"] = "\(configuration.greeting) \(configuration.name)"
    request.transactionData = "kept"
  }

  func intercept(_ response: StageResponse, context: ResponseContext) async throws {
    response.headers["x-kept"] = response.request.transactionData as? String
  }

  func interceptFailure(_ failure: Failure, of request: StageRequest, context: ResponseContext) async throws {
    request.respond(status: 200).headers["x-failure"] = failure.code.rawValue
  }

  func interceptBody(_ body: PassingBody) throws -> (any BodyTransform)? { UpperCase() }

  func record(_ event: borrowing TransactionEvent) {
    guard event.kind == .didComplete else { return }
    let status = event.status ?? 0
    Self.lifecycle.update { $0.append("complete \(status)") }
  }

  private final class UpperCase: BodyTransform {
    func transform(_ piece: [UInt8]) async throws -> [UInt8] {
      piece.map { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) ? $0 - 32 : $0 }
    }
  }
}

/// Plugins and stages that are a part of the program.
@Suite(.serialized) struct ProgramPluginTests {
  private static func engine(_ code: StageCode) throws -> Engine {
    var configuration = Configuration()
    configuration.addStage("greets", code)
    return try Engine(configuration)
  }

  @Test func `a plugin's type works as a part of the program`() async throws {
    Greeter.lifecycle.update { $0 = [] }
    let server = try LoopbackServer { _ in .text("hello") }
    defer { server.stop() }
    let engine = try Self.engine(StageCode(Greeter.self, configuration: ["greeting": "hi"]))
    let result = await engine.transaction(Request(url: try HTTPURL(server.baseURL + "/a")))
    #expect(result.error == nil)
    #expect(server.requests.first?.value(of: "x-greeting") == "hi world")
    #expect(result.response?.headers["x-kept"] == "kept")
    #expect(result.response?.body.bytes == Array("HELLO".utf8))
    let failed = await engine.transaction(Request(url: try HTTPURL("http://127.0.0.1:\(try Loopback.freePort())/")))
    #expect(failed.response?.headers["x-failure"] == "connect")
    let metric = engine.metricsDocument()["plugins"]?["metrics"]?[0]
    #expect(metric?["stage"] == "greets" && metric?["name"] == "requests")
    #expect(metric?["series"]?[0]?["value"]?.real == 2)
    await engine.shutdown()
    #expect(
      Greeter.lifecycle.value == ["init greets", "activate", "complete 200", "complete 200", "deactivate"])
  }

  @Test(
    arguments: [
      (JSONValue.object(), "greeting"), (["greeting": "far too long"], "config/greeting"),
      (["greeting": "hi", "other": 1], "other"),
    ] as [(JSONValue, String)])
  func `the configuration of a plugin is checked`(_ configuration: JSONValue, _ word: String) throws {
    let error = #expect(throws: EngineError.self) {
      try Self.engine(StageCode(Greeter.self, configuration: configuration))
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains(word))
  }

  @Test func `a type that is not a stage is refused, and the error says what to conform to`() throws {
    struct Nothing {}
    let error = #expect(throws: EngineError.self) {
      var configuration = Configuration()
      configuration.addStage("nothing", StageCode(Nothing()))
      _ = try Engine(configuration)
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("conform it to one"))
  }

  @Test func `a stage of the program has the deadline and the retries of every stage`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    var configuration = Configuration()
    configuration.addStage(
      "limits",
      StageCode(
        request: { request, _ in
          try request.lower(.attempts(1))
          request.headers["x-hop"] = nil
        }, failure: { failure, request, _ in request.respond(status: 204).headers["x-code"] = failure.code.rawValue }))
    let engine = try Engine(configuration)
    let result = await engine.transaction(Request(url: try HTTPURL("http://127.0.0.1:\(try Loopback.freePort())/")))
    #expect(result.response?.status == 204 && result.response?.headers["x-code"] == "connect")
    await engine.shutdown()
  }
}
