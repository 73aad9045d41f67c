import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A server, an OTLP collector, and a configuration for programs under `sluice attach` with the plugin `otlp` and with
/// trace headers.
struct AttachedCollector {
  let fixture: AttachFixture
  let collector: LoopbackServer

  /// - Parameters:
  ///   - config: further settings of the plugin, each with a comma before it.
  ///   - endpoint: the endpoint of the plugin, if it is not the collector.
  ///   - delivery: the delivery of the events.
  init(
    _ config: String = "", endpoint: String? = nil, delivery: String = "direct",
    collector answer: @escaping @Sendable (ServerRequest) -> ServerResponse = Self.accept,
    server: @escaping @Sendable (ServerRequest) -> ServerResponse = { .text("answer to \($0.method) \($0.target)\n") }
  ) throws {
    collector = try LoopbackServer(handler: answer)
    let queued = delivery == "queued" ? #", "delivery": "queued""# : ""
    fixture = try AttachFixture(
      more: """
        , "o": {"library": "\(BuiltProducts.library("otlp"))"\(queued),
                "config": {"endpoint": "\(endpoint ?? collector.baseURL)"\(config)}}
        """, stages: #""issue": ["trace"], "tracers": ["o"]"#, answer: server)
  }

  static let accept: @Sendable (ServerRequest) -> ServerResponse = { _ in .text("{}", type: "application/json") }

  /// Never answers requests with spans.
  static let silent: @Sendable (ServerRequest) -> ServerResponse = { _ in .deferred { _ in } }

  /// The ids of all exported spans.
  var spans: [TraceIDs] {
    collector.requests.filter { $0.target == "/v1/traces" }.flatMap { Self.spans(in: $0) }
  }

  private static func spans(in request: ServerRequest) -> [TraceIDs] {
    guard let document = try? JSONValue(parsing: request.body) else { return [] }
    func items(_ value: JSONValue, _ key: String) -> [JSONValue] { value[key].map { Array($0.elements) } ?? [] }
    return items(document, "resourceSpans").flatMap { items($0, "scopeSpans") }.flatMap { items($0, "spans") }
      .compactMap { TraceIDs("00-\($0["traceId"]?.string ?? "")-\($0["spanId"]?.string ?? "")-01") }
  }

  /// Returns the ids that the server has received, beginning with the request at `start`.
  func sent(from start: Int = 0) -> [TraceIDs] { Array(fixture.server.requests.dropFirst(start)).traceIDs }

  /// Starts a program under `sluice attach`.
  func start(_ words: [String]) throws -> RunningCommand {
    try Command(
      Tool.path, ["attach", "-c", fixture.configuration, "--"] + words, environment: Tool.cleared
    ).start()
  }
}
