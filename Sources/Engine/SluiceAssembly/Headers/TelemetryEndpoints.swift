import SluiceIDNA
import SluiceMessages

/// The endpoints of this program's telemetry. Tracing an export would cause another export.
enum TelemetryEndpoints {
  /// OpenTelemetry, "OTLP Exporter Configuration".
  private static let variables = [
    "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
  ]

  /// The origins that the environment names. Invalid URLs are ignored, because the exporter reports them.
  static func exclusions(_ environment: TelemetryEnvironment) -> [HostList.Exclusion] {
    variables.compactMap { variable in
      environment.value(variable).flatMap { pattern($0) }.map { HostList.Exclusion(pattern: $0, source: variable) }
    }
  }

  /// Exporters over gRPC also accept `host:port`.
  private static func pattern(_ endpoint: String) -> HostPattern? {
    if let origin = (try? HTTPURL(endpoint, hosts: .idna))?.origin {
      let host = origin.host.utf8.contains(UInt8(ascii: ":")) ? "[\(origin.host)]" : origin.host
      return try? HostPattern("\(origin.scheme)://\(host):\(origin.port)")
    }
    let authority = endpoint.firstRange(of: "://").map { endpoint[$0.upperBound...] } ?? endpoint[...]
    return try? HostPattern(String(authority.prefix { $0 != "/" }), hosts: .idna)
  }
}
