import Sluice
import SluiceServer
import SluiceTestServers
import SluiceTraceContext

/// Sends requests through the built-in `headers` and returns the headers that arrive at a server.
enum HeaderPlaces {
  /// Settings with which the stage sets all kinds of headers.
  static let kinds = "\"sessionId\": {}, \"static\": {\"X-App\": \"shop\"}"
  static let parent = ParentContext(
    traceparent: "00-0123456789abcdef0011223344556677-8899aabbccddeeff-01", tracestate: "vendor=opaque",
    baggage: "user=alice")
  /// One header of each kind, keyed by the name of the kind.
  static let header = [
    "trace": "traceparent", "baggage": "baggage", "requestId": "x-request-id", "sessionId": "x-session-id",
    "static": "x-app",
  ]

  static func configuration(_ config: String, more: String = "") throws -> Configuration {
    let text = """
      {\(more) "plugins": {"headers": {"builtin": "headers", "config": {\(config)}}}, "issue": ["headers"]}
      """
    return try Configuration(text: Array(text.utf8))
  }

  /// Sends one request. Returns the kinds that arrived, and the result.
  static func arrived(
    _ config: String, path: String = "/a", headers: HeaderFields = HeaderFields(),
    parent: ParentContext = HeaderPlaces.parent, explained: Bool = false
  ) async throws -> (kinds: Set<String>, headers: [HeaderLine], result: TransactionResult) {
    let server = try LoopbackServer()
    defer { server.stop() }
    let engine = try Engine(configuration(config.replacing("PORT", with: "\(server.port)")))
    var request = Request(url: try HTTPURL(server.baseURL + path), headers: headers)
    request.wantsExplanation = explained
    let result = await engine.transaction(request, parent: parent)
    await engine.shutdown()
    let lines = server.requests.first?.headers ?? []
    return (kinds(in: lines), lines, result)
  }

  static func kinds(in lines: [HeaderLine]) -> Set<String> {
    Set(header.filter { lines.first($0.value) != nil }.keys)
  }
}
