import OTLPRules
import SluiceMessages
import Testing

/// The settings of an export, from the configuration, from environment variables, and from defaults.
@Suite struct ExportSettingsTests {
  private static func settings(
    _ environment: [String: String] = [:], _ change: (inout GivenSettings) -> Void = { _ in }
  ) throws(ExportSettings.Refusal) -> ExportSettings {
    var given = GivenSettings()
    change(&given)
    return try ExportSettings(given, environment: { environment[$0] }, program: ("sluice", "1.2.3"))
  }

  private static func refusal(
    _ environment: [String: String] = [:], _ change: (inout GivenSettings) -> Void = { _ in }
  ) -> ExportSettings.Refusal? {
    do throws(ExportSettings.Refusal) {
      _ = try settings(environment, change)
      return nil
    } catch { return error }
  }

  @Test func `without settings OpenTelemetry's defaults apply`() throws {
    let settings = try Self.settings()
    #expect(settings.routes[.traces]?.url == "http://localhost:4318/v1/traces")
    #expect(settings.routes[.metrics]?.url == "http://localhost:4318/v1/metrics")
    #expect(settings.routes[.traces]?.timeout == .seconds(10) && settings.routes[.traces]?.headers.isEmpty == true)
    #expect(settings.queueSpans == 2048 && settings.batchSpans == 512)
    #expect(settings.delay == .seconds(5) && settings.metricsInterval == .seconds(60))
    #expect(!settings.isDisabled)
    #expect(settings.resource["service.name"] == .text("unknown_service:sluice"))
    #expect(settings.resource["telemetry.sdk.version"] == .text("1.2.3"))
  }

  @Test func `an unsupported setting causes a warning`() throws {
    #expect(try Self.settings().warnings.isEmpty)
    #expect(
      try Self.settings([
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
      ]).warnings.isEmpty)
    let warnings = try Self.settings([
      "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "gzip",
      "OTEL_EXPORTER_OTLP_CERTIFICATE": "/ca.pem",
    ]).warnings
    #expect(warnings.count == 3)
    #expect(warnings.contains { $0.contains("OTEL_EXPORTER_OTLP_PROTOCOL: \"grpc\"") && $0.contains("http/json") })
    #expect(warnings.contains { $0.contains("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: \"gzip\"") })
    #expect(warnings.contains { $0.contains("OTEL_EXPORTER_OTLP_CERTIFICATE") && $0.contains("transport.tls") })
  }

  @Test(arguments: [
    ("http://c:4318", "http://c:4318/v1/traces"), ("http://c/", "http://c/v1/traces"),
    ("https://c/otlp", "https://c/otlp/v1/traces"), ("https://c/otlp/", "https://c/otlp/v1/traces"),
  ]) func `the path of the signal is appended to a base endpoint`(_ base: String, _ url: String) throws {
    #expect(try Self.settings(["OTEL_EXPORTER_OTLP_ENDPOINT": base]).routes[.traces]?.url == url)
    #expect(try Self.settings { $0.endpoint = base }.routes[.traces]?.url == url)
  }

  @Test func `the endpoint of a signal is used unchanged, and overrides the base endpoint`() throws {
    let environment = [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "http://base", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://traces/in?a=b",
    ]
    let settings = try Self.settings(environment)
    #expect(settings.routes[.traces]?.url == "http://traces/in?a=b")
    #expect(settings.routes[.metrics]?.url == "http://base/v1/metrics")
    // The configuration overrides both variables.
    #expect(
      try Self.settings(environment) { $0.endpoint = "http://own" }.routes[.traces]?.url == "http://own/v1/traces")
    let own = try Self.settings(environment) { $0.endpoints[.traces] = "http://own/t" }
    #expect(own.routes[.traces]?.url == "http://own/t" && own.routes[.metrics]?.url == "http://base/v1/metrics")
  }

  @Test func `headers, timeouts and sizes come from the variables if the configuration has none`() throws {
    let environment = [
      "OTEL_EXPORTER_OTLP_HEADERS": "a=1,b=x%20y", "OTEL_EXPORTER_OTLP_METRICS_HEADERS": "c=2",
      "OTEL_EXPORTER_OTLP_TIMEOUT": "2000", "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT": "3000",
      "OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "10", "OTEL_BSP_SCHEDULE_DELAY": "50",
      "OTEL_METRIC_EXPORT_INTERVAL": "70", "OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS": "GET,PURGE",
      "OTEL_SDK_DISABLED": "TRUE",
    ]
    let settings = try Self.settings(environment)
    #expect(settings.routes[.traces]?.headers.map { "\($0.name)=\($0.value)" } == ["a=1", "b=x y"])
    #expect(settings.routes[.metrics]?.headers.map { "\($0.name)=\($0.value)" } == ["c=2"])
    #expect(settings.routes[.traces]?.timeout == .seconds(2) && settings.routes[.metrics]?.timeout == .seconds(3))
    #expect(settings.queueSpans == 100 && settings.batchSpans == 10 && settings.delay == .milliseconds(50))
    #expect(settings.metricsInterval == .milliseconds(70) && settings.knownMethods == ["GET", "PURGE"])
    #expect(settings.isDisabled && settings.warnings == ["nothing is exported, because OTEL_SDK_DISABLED is true"])
    let own = try Self.settings(environment) {
      ($0.headers, $0.timeout, $0.queueSpans, $0.batchSpans) = (["d": "3"], .seconds(1), 5, 2)
    }
    #expect(own.routes[.metrics]?.headers.map(\.name) == ["d"] && own.routes[.traces]?.timeout == .seconds(1))
    #expect(own.queueSpans == 5 && own.batchSpans == 2)
    // An empty variable counts as not set, and the batch size is limited to the size of the queue.
    #expect(try Self.settings(["OTEL_BSP_MAX_QUEUE_SIZE": ""]).queueSpans == 2048)
    #expect(try Self.settings(["OTEL_BSP_MAX_QUEUE_SIZE": "7"]).batchSpans == 7)
  }

  @Test func `the resource has the attributes of the variables and of the configuration, which has priority`() throws {
    let environment = ["OTEL_RESOURCE_ATTRIBUTES": "service.name=a,deployment=blue%2Cgreen", "OTEL_SERVICE_NAME": "b"]
    #expect(try Self.settings(environment).resource["service.name"] == .text("b"))
    #expect(try Self.settings(environment).resource["deployment"] == .text("blue,green"))
    let own = try Self.settings(environment) { ($0.serviceName, $0.resource) = ("c", ["deployment": "red"]) }
    #expect(own.resource["service.name"] == .text("c") && own.resource["deployment"] == .text("red"))
    let attribute = ["OTEL_RESOURCE_ATTRIBUTES": "service.name=a"]
    #expect(try Self.settings(attribute).resource["service.name"] == .text("a"))
  }

  @Test(arguments: [
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://c"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318"),
    ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c/?a=b"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://u:p@c/"),
    ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c/#f"), ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", ""),
    ("OTEL_EXPORTER_OTLP_HEADERS", "a"), ("OTEL_EXPORTER_OTLP_HEADERS", "a b=c"),
    ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=%0D"), ("OTEL_EXPORTER_OTLP_HEADERS", "Content-Type=a"),
    ("OTEL_EXPORTER_OTLP_HEADERS", "connection=a"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
    ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "-1"), ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
    ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4096"), ("OTEL_BSP_SCHEDULE_DELAY", "x"),
    ("OTEL_METRIC_EXPORT_INTERVAL", "1.5"), ("OTEL_RESOURCE_ATTRIBUTES", "a=%zz"), ("OTEL_RESOURCE_ATTRIBUTES", "=b"),
    ("OTEL_SDK_DISABLED", "yes"),
  ]) func `the error for a bad value names its variable`(_ name: String, _ value: String) {
    #expect(Self.refusal([name: value])?.subject == (value.isEmpty ? nil : name))
  }

  @Test func `the error for a bad value names its key, and does not repeat secrets`() {
    #expect(Self.refusal { $0.endpoint = "x" }?.subject == #"config key "endpoint""#)
    #expect(Self.refusal { $0.endpoints[.metrics] = "x" }?.subject == #"config key "metricsEndpoint""#)
    #expect(Self.refusal { ($0.queueSpans, $0.batchSpans) = (1, 2) }?.subject == #"config key "batchSpans""#)
    let refusal = Self.refusal { $0.headers = ["api-key": "S3CRET\n"] }
    #expect(refusal?.subject == #"config key "headers""#)
    #expect(refusal?.reason.contains("api-key") == true && refusal?.reason.contains("S3CRET") == false)
    let variable = Self.refusal(["OTEL_EXPORTER_OTLP_HEADERS": "api-key=S3CRET%0A"])
    #expect(variable?.reason.contains("S3CRET") == false)
  }

  @Test func `a variable that the configuration overrides is not read`() throws {
    let settings = try Self.settings(["OTEL_EXPORTER_OTLP_ENDPOINT": "x", "OTEL_BSP_SCHEDULE_DELAY": "x"]) {
      ($0.endpoint, $0.delay) = ("http://c", .seconds(1))
    }
    #expect(settings.delay == .seconds(1))
  }
}
