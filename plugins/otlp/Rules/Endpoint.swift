import SluiceMessages

/// A kind of telemetry that is exported. It has its own variables, and a path that is appended to a base endpoint.
package enum Signal: String, Sendable, CaseIterable {
  case traces
  case metrics

  var path: String { "v1/\(rawValue)" }

  /// The variable that applies only to this signal: `OTEL_EXPORTER_OTLP_TRACES_…`.
  package func variable(_ name: String) -> String { "OTEL_EXPORTER_OTLP_\(rawValue.uppercased())_\(name)" }

  /// The variable that applies to all signals.
  package static func commonVariable(_ name: String) -> String { "OTEL_EXPORTER_OTLP_\(name)" }
}

/// The URL to which a signal is sent (OpenTelemetry protocol exporter, "Endpoint URLs for OTLP/HTTP").
package struct Endpoint: Sendable, Hashable {
  package struct Malformed: Error, Hashable {
    package let reason: String
  }

  package static let `default` = "http://localhost:4318"

  package let url: String

  /// A URL for one signal, which is used unchanged.
  package init(exactly text: String) throws(Malformed) { url = try Self.read(text).string }

  /// A URL for all signals, to which the path of the signal is appended.
  package init(base text: String, for signal: Signal) throws(Malformed) {
    let base = try Self.read(text)
    guard base.query == nil else {
      throw Malformed(reason: "expected a URL without a query, because a path is appended")
    }
    url = base.string + (base.string.hasSuffix("/") ? "" : "/") + signal.path
  }

  private static func read(_ text: String) throws(Malformed) -> HTTPURL {
    let url: HTTPURL
    do throws(MessageError) { url = try HTTPURL(text) } catch {
      throw Malformed(reason: "expected an http or https URL: \(error.reason)")
    }
    guard url.userInfo == nil else {
      throw Malformed(reason: "expected a URL without user and password; put secrets in \"headers\"")
    }
    guard !text.utf8.contains(UInt8(ascii: "#")) else { throw Malformed(reason: "expected a URL without a fragment") }
    return url
  }
}
