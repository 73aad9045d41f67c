import Glibc
import OTLPRules
import SluiceMessages
import SluicePlugin
import SluiceSupport

/// The `config` of the plugin. OpenTelemetry's variables apply where a member is absent.
struct OTLPConfiguration: Decodable, Sendable {
  struct Retry: Decodable, Sendable {
    var initial: String?
    var maximum: String?
    var total: String?
  }

  struct Redact: Decodable, Sendable {
    var query: [String]?
  }

  /// The base URL of the collector, to which the path of each signal is appended.
  var endpoint: String?
  /// The whole URL of one signal.
  var tracesEndpoint: String?
  var metricsEndpoint: String?
  var headers: [String: String]?
  /// The time limit of one request to the collector.
  var timeout: String?
  var serviceName: String?
  var resource: [String: String]?
  var traces: Bool?
  var metrics: Bool?
  var queueSpans: Int?
  var batchSpans: Int?
  /// How long a span waits for further spans of its batch.
  var delay: String?
  var metricsInterval: String?
  var retry: Retry?
  var knownMethods: [String]?
  var redact: Redact?

  static let schema = """
    {
      "$schema": "http://json-schema.org/draft-07/schema#",
      "type": "object",
      "additionalProperties": false,
      "definitions": {
        "duration": {"type": "string", "pattern": "^[0-9]+([.][0-9]+)?(ms|s|m|h)$"},
        "texts": {"type": "object", "additionalProperties": {"type": "string"}}
      },
      "properties": {
        "endpoint": {"type": "string", "minLength": 1},
        "tracesEndpoint": {"type": "string", "minLength": 1},
        "metricsEndpoint": {"type": "string", "minLength": 1},
        "headers": {"$ref": "#/definitions/texts"},
        "timeout": {"$ref": "#/definitions/duration"},
        "serviceName": {"type": "string", "minLength": 1},
        "resource": {"$ref": "#/definitions/texts"},
        "traces": {"type": "boolean"},
        "metrics": {"type": "boolean"},
        "queueSpans": {"type": "integer", "minimum": 1, "maximum": 1048576},
        "batchSpans": {"type": "integer", "minimum": 1, "maximum": 65536},
        "delay": {"$ref": "#/definitions/duration"},
        "metricsInterval": {"$ref": "#/definitions/duration"},
        "retry": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "initial": {"$ref": "#/definitions/duration"},
            "maximum": {"$ref": "#/definitions/duration"},
            "total": {"$ref": "#/definitions/duration"}
          }
        },
        "knownMethods": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "redact": {
          "type": "object",
          "additionalProperties": false,
          "properties": {"query": {"type": "array", "items": {"type": "string"}}}
        }
      }
    }
    """

  var secrets: Redactor { Redactor(query: redact?.query ?? []) }

  /// The signals that are exported.
  var signals: Set<Signal> {
    var signals: Set<Signal> = []
    if traces ?? true { signals.insert(.traces) }
    if metrics ?? true { signals.insert(.metrics) }
    return signals
  }

  func settings(for host: PluginHost) throws(StageFailure) -> ExportSettings {
    var given = GivenSettings()
    given.endpoint = endpoint
    given.endpoints[.traces] = tracesEndpoint
    given.endpoints[.metrics] = metricsEndpoint
    given.headers = headers
    given.timeout = try duration("timeout", timeout)
    given.serviceName = serviceName
    given.resource = resource ?? [:]
    given.queueSpans = queueSpans
    given.batchSpans = batchSpans
    given.delay = try duration("delay", delay)
    given.metricsInterval = try duration("metricsInterval", metricsInterval)
    given.knownMethods = knownMethods
    do throws(ExportSettings.Refusal) {
      return try ExportSettings(
        given, environment: { name in getenv(name).map { String(cString: $0) } },
        program: (Self.programName ?? host.programName, host.programVersion))
    } catch { throw StageFailure(message: error.description) }
  }

  /// The name of the file that this process runs, which OpenTelemetry uses if the service has no name; nil if it is not
  /// known.
  private static var programName: String? {
    RunningProgram.path()?.split(separator: "/").last.map(String.init)
  }

  func schedule() throws(StageFailure) -> RetrySchedule {
    var schedule = RetrySchedule()
    if let initial = try duration("retry.initial", retry?.initial) { schedule.initial = initial }
    if let maximum = try duration("retry.maximum", retry?.maximum) { schedule.maximum = maximum }
    if let total = try duration("retry.total", retry?.total) { schedule.total = total }
    return schedule
  }

  private func duration(_ key: String, _ text: String?) throws(StageFailure) -> Duration? {
    guard let text else { return nil }
    guard let duration = DurationText.duration(text), duration > .zero else {
      throw StageFailure(
        message: "config key \"\(key)\": expected a duration such as \"500ms\" or \"10s\", found \"\(text)\"")
    }
    return duration
  }
}
