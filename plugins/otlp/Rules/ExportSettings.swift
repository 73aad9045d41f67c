package import SluiceMessages

/// The settings of the configuration; nil where a setting is absent.
package struct GivenSettings: Sendable {
  /// The endpoint for all signals, to which the path of each signal is appended.
  package var endpoint: String?
  /// The endpoints for single signals, which are used unchanged.
  package var endpoints: [Signal: String] = [:]
  package var headers: [String: String]?
  package var timeout: Duration?
  package var serviceName: String?
  package var resource: [String: String] = [:]
  package var queueSpans: Int?
  package var batchSpans: Int?
  package var delay: Duration?
  package var metricsInterval: Duration?
  package var knownMethods: [String]?

  package init() {}
}

/// Where, how and when to export. A setting comes from the configuration, otherwise from OpenTelemetry's variables,
/// otherwise from OpenTelemetry's defaults.
package struct ExportSettings: Sendable {
  package struct Refusal: Error, Hashable, CustomStringConvertible {
    /// The key of the configuration or the variable that is wrong.
    package let subject: String
    package let reason: String

    package var description: String { "\(subject): \(reason)" }
  }

  /// The endpoint of one signal, with its headers and time limit.
  package struct Route: Sendable {
    package let url: String
    package let headers: [(name: String, value: String)]
    package let timeout: Duration
  }

  package let routes: [Signal: Route]
  package let resource: [Attribute]
  package let queueSpans: Int
  package let batchSpans: Int
  package let delay: Duration
  package let metricsInterval: Duration
  package let knownMethods: Set<String>
  /// Whether `OTEL_SDK_DISABLED` is set, so that nothing is exported.
  package let isDisabled: Bool
  /// Settings in the environment that this exporter does not support.
  package let warnings: [String]

  /// - Parameters:
  ///   - read: returns a variable of the environment.
  ///   - program: name and version of the program.
  package init(
    _ given: GivenSettings, environment read: @escaping (String) -> String?, program: (name: String, version: String)
  ) throws(Refusal) {
    let environment = Environment(read: read)
    var routes: [Signal: Route] = [:]
    for signal in Signal.allCases {
      routes[signal] = Route(
        url: try Self.url(given, signal, environment), headers: try Self.headers(given, signal, environment),
        timeout: try Self.timeout(given, signal, environment))
    }
    self.routes = routes
    resource = try Self.resource(given, environment, program)
    queueSpans = try environment.count("OTEL_BSP_MAX_QUEUE_SIZE", unless: given.queueSpans) ?? 2048
    let batch =
      try environment.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", unless: given.batchSpans) ?? min(512, queueSpans)
    guard batch <= queueSpans else {
      let subject =
        given.batchSpans == nil ? "OTEL_BSP_MAX_EXPORT_BATCH_SIZE" : "config key \"batchSpans\""
      throw Refusal(subject: subject, reason: "expected at most the size of the queue, \(queueSpans), found \(batch)")
    }
    batchSpans = batch
    delay = try environment.milliseconds("OTEL_BSP_SCHEDULE_DELAY", unless: given.delay) ?? .seconds(5)
    metricsInterval =
      try environment.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", unless: given.metricsInterval) ?? .seconds(60)
    knownMethods =
      given.knownMethods.map { Set($0) } ?? environment.words("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS")
      ?? HopFacts.knownMethods
    isDisabled = try environment.flag("OTEL_SDK_DISABLED") ?? false
    warnings = isDisabled ? ["nothing is exported, because OTEL_SDK_DISABLED is true"] : Self.warnings(environment)
  }

  private static func warnings(_ environment: Environment) -> [String] {
    var warnings: [String] = []
    for prefix in [Signal.commonVariable("")] + Signal.allCases.map({ $0.variable("") }) {
      if let name = environment.value(prefix + "PROTOCOL"), name != "http/json" {
        warnings.append("\(prefix)PROTOCOL: \(PlainText.quote(name)) is not supported; the exporter speaks http/json")
      }
      if let name = environment.value(prefix + "COMPRESSION"), name != "none" {
        warnings.append("\(prefix)COMPRESSION: \(PlainText.quote(name)) is not supported; nothing is compressed")
      }
      for name in ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"] where environment.value(prefix + name) != nil {
        warnings.append("\(prefix)\(name) is not used; transport.tls of the program applies to collectors too")
      }
    }
    return warnings
  }

  private static func url(
    _ given: GivenSettings, _ signal: Signal, _ environment: Environment
  ) throws(Refusal) -> String {
    var subject = ""
    do throws(Endpoint.Malformed) {
      if let text = given.endpoints[signal] {
        subject = "config key \"\(signal.rawValue)Endpoint\""
        return try Endpoint(exactly: text).url
      }
      if let text = given.endpoint {
        subject = "config key \"endpoint\""
        return try Endpoint(base: text, for: signal).url
      }
      subject = signal.variable("ENDPOINT")
      if let text = environment.value(subject) { return try Endpoint(exactly: text).url }
      subject = Signal.commonVariable("ENDPOINT")
      return try Endpoint(base: environment.value(subject) ?? Endpoint.default, for: signal).url
    } catch { throw Refusal(subject: subject, reason: error.reason) }
  }

  private static func timeout(
    _ given: GivenSettings, _ signal: Signal, _ environment: Environment
  ) throws(Refusal) -> Duration {
    let own = try environment.milliseconds(signal.variable("TIMEOUT"), unless: given.timeout)
    return try environment.milliseconds(Signal.commonVariable("TIMEOUT"), unless: own) ?? .seconds(10)
  }

  private static func headers(
    _ given: GivenSettings, _ signal: Signal, _ environment: Environment
  ) throws(Refusal) -> [(name: String, value: String)] {
    var subject = "config key \"headers\""
    var headers = given.headers?.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    if headers == nil {
      subject = signal.variable("HEADERS")
      if environment.value(subject) == nil { subject = Signal.commonVariable("HEADERS") }
      headers = try environment.pairs(subject)?.map { (name: $0.key, value: $0.value) }
    }
    for (name, value) in headers ?? [] { try check(name, value, subject) }
    return headers ?? []
  }

  /// Checks a header. Errors name the header and never its value, which can be a secret.
  private static func check(_ name: String, _ value: String, _ subject: String) throws(Refusal) {
    do throws(MessageError) {
      try HeaderFields.check(name: name.utf8.span, value: value.utf8.span)
    } catch { throw Refusal(subject: subject, reason: "\(error.subject): \(error.reason)") }
    let own = ["content-type", "content-encoding", "host"].contains(name.lowercased())
    guard !own, !FieldSyntax.isTransportField(name.utf8.span) else {
      throw Refusal(subject: subject, reason: "\(PlainText.quote(name)) is set by the exporter or the host")
    }
  }

  /// The attributes of the resource: the service's name, the attributes in `OTEL_RESOURCE_ATTRIBUTES` and in the
  /// configuration, and the name and version of the program. The configuration takes precedence over the variable.
  private static func resource(
    _ given: GivenSettings, _ environment: Environment, _ program: (name: String, version: String)
  ) throws(Refusal) -> [Attribute] {
    var values: [String: String] = [:]
    for (key, value) in try environment.pairs("OTEL_RESOURCE_ATTRIBUTES") ?? [] { values[key] = value }
    if let name = environment.value("OTEL_SERVICE_NAME") { values["service.name"] = name }
    values.merge(given.resource) { $1 }
    if let name = given.serviceName { values["service.name"] = name }
    if values["service.name"] == nil { values["service.name"] = "unknown_service:\(program.name)" }
    values["telemetry.sdk.name"] = "sluice"
    values["telemetry.sdk.language"] = "swift"
    values["telemetry.sdk.version"] = program.version
    return values.sorted { $0.key < $1.key }.map { Attribute($0.key, $0.value) }
  }
}

/// OpenTelemetry's variables. An empty variable counts as not set.
struct Environment {
  let read: (String) -> String?

  func value(_ name: String) -> String? { read(name).flatMap { $0.isEmpty ? nil : $0 } }

  func pairs(_ name: String) throws(ExportSettings.Refusal) -> [(key: String, value: String)]? {
    guard let text = value(name) else { return nil }
    do throws(PairList.Malformed) { return try PairList.read(text) } catch {
      throw ExportSettings.Refusal(subject: name, reason: error.reason)
    }
  }

  /// Reads a variable that is a number of milliseconds. Does not read the variable if a value is already given.
  func milliseconds(_ name: String, unless given: Duration?) throws(ExportSettings.Refusal) -> Duration? {
    if let given { return given }
    return try number(name, "a number of milliseconds").map { .milliseconds($0) }
  }

  /// Reads a variable that is a count. Does not read the variable if a value is already given.
  func count(_ name: String, unless given: Int?) throws(ExportSettings.Refusal) -> Int? {
    if let given { return given }
    return try number(name, "a number")
  }

  func flag(_ name: String) throws(ExportSettings.Refusal) -> Bool? {
    guard let text = value(name) else { return nil }
    switch text.lowercased() {
    case "true": return true
    case "false": return false
    default: throw refusal(name, "true or false", text)
    }
  }

  func words(_ name: String) -> Set<String>? {
    value(name).map { text in Set(text.split(separator: ",").map { String($0) }) }
  }

  private func number(_ name: String, _ what: String) throws(ExportSettings.Refusal) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), (1...1_000_000_000).contains(number) else {
      throw refusal(name, "\(what) from 1 to 1000000000", text)
    }
    return number
  }

  private func refusal(_ name: String, _ expected: String, _ text: String) -> ExportSettings.Refusal {
    ExportSettings.Refusal(subject: name, reason: "expected \(expected), found \(PlainText.quote(text))")
  }
}
