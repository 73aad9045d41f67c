import Sluice
import SluiceJSON
import SluiceMessages
import SluiceServer
import SluiceTestKit
import SluiceTestServers

/// A collector for OTLP over HTTP. It also makes engines whose plugin `otlp` exports to this collector.
final class ExportCollector: Sendable {
  /// One span, with its attributes by key.
  struct Span {
    let document: JSONValue
    let attributes: [String: JSONValue]

    init(_ document: JSONValue) {
      self.document = document
      attributes = ExportCollector.attributes(document)
    }

    func text(_ key: String) -> String? { document[key]?.string }
    func attribute(_ key: String) -> String? {
      attributes[key].flatMap { $0["stringValue"]?.string ?? $0["intValue"]?.string }
    }
    /// The status code: 0 is unset, 1 is ok, 2 is error.
    var status: Int64 { document["status"]?["code"]?.integer ?? 0 }
    var message: String? { document["status"]?["message"]?.string }
    var start: UInt64 { text("startTimeUnixNano").flatMap { UInt64($0) } ?? 0 }
    var end: UInt64 { text("endTimeUnixNano").flatMap { UInt64($0) } ?? 0 }
  }

  let server: LoopbackServer
  let log = Watched<[String]>([])

  init(answer: @escaping @Sendable (ServerRequest) -> ServerResponse = { _ in .text("{}", type: "application/json") })
    throws
  {
    server = try LoopbackServer(handler: answer)
  }

  /// - Parameters:
  ///   - config: settings besides the endpoint.
  ///   - plugins: further plugins, each with a comma in front.
  ///   - lists: further members of the configuration, such as the lists of stages, each with a comma in front.
  func engine(
    endpoint: String? = nil, _ config: String = "", delivery: String = "queued", plugins: String = "",
    lists: String = ""
  ) throws -> Engine {
    let delivery = delivery == "queued" ? #", "delivery": "queued""# : #", "deadline": "60s""#
    let text = """
      {"plugins": {"otlp": {"library": "\(BuiltProducts.library("otlp"))"\(delivery),
                            "config": {"endpoint": "\(endpoint ?? server.baseURL)"\(config)}}\(plugins)},
       "tracers": ["otlp"], "transport": {"loops": 2}\(lists)}
      """
    return try Engine(Configuration(text: Array(text.utf8))) { [log] line in log.update { $0.append(line.message) } }
  }

  private func documents(_ path: String) throws -> [JSONValue] {
    try server.requests.filter { $0.target == path }.map {
      try JSONValue(parsing: $0.body, options: .rejectDuplicates)
    }
  }

  /// All spans of all requests, in the order of their ends.
  func spans() throws -> [Span] {
    try documents("/v1/traces").flatMap { $0.items("resourceSpans") }.flatMap { $0.items("scopeSpans") }
      .flatMap { $0.items("spans") }.map(Span.init).sorted { $0.end < $1.end }
  }

  /// Returns the metric of that name from the last export that has it.
  func metric(_ name: String) throws -> JSONValue? {
    try documents("/v1/metrics").flatMap { $0.items("resourceMetrics") }.flatMap { $0.items("scopeMetrics") }
      .flatMap { $0.items("metrics") }.last { $0["name"]?.string == name }
  }

  /// Returns the data points of the histogram of that name.
  func points(_ name: String) throws -> [JSONValue] { try metric(name)?["histogram"]?.items("dataPoints") ?? [] }

  func resource() throws -> [String: JSONValue] {
    try documents("/v1/traces").first?["resourceSpans"]?[0]?["resource"].map(Self.attributes) ?? [:]
  }

  static func attributes(_ document: JSONValue) -> [String: JSONValue] {
    document.items("attributes").reduce(into: [:]) { $0[$1["key"]?.string ?? ""] = $1["value"] }
  }

  /// Returns the log lines that contain the text.
  func lines(_ text: String) -> [String] { log.value.filter { $0.contains(text) } }

  /// Returns how many spans the plugin has counted for the outcome.
  static func count(_ outcome: String, _ engine: Engine) -> Double {
    engine.pluginMetrics["otlp", "spans"]?[outcome]?.value ?? 0
  }
}

extension JSONValue {
  /// Returns the elements of a member that is an array.
  func items(_ key: String) -> [JSONValue] { self[key].map { Array($0.elements) } ?? [] }
}
