import Glibc
import SluiceJSON
import SluiceTestKit

/// The built command.
enum Tool {
  static let path = BuiltProducts.executable("sluice")
  static let isSoak = getenv("SLUICE_SOAK") != nil
  /// Overrides for the environment that remove all variables that would change the command's behaviour.
  static let cleared: [String: String?] = [
    "TRACEPARENT": nil, "TRACESTATE": nil, "BAGGAGE": nil, "OTEL_PROPAGATORS": nil, "OTEL_TRACES_SAMPLER": nil,
    "OTEL_TRACES_SAMPLER_ARG": nil, "OTEL_SDK_DISABLED": nil, "OTEL_EXPORTER_OTLP_ENDPOINT": nil,
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": nil, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": nil,
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": nil, "http_proxy": nil, "all_proxy": nil, "NO_COLOR": nil,
  ]

  static func run(
    _ arguments: String..., input: String = "", environment: [String: String?] = [:]
  ) async throws -> CommandResult {
    try await run(arguments: arguments, input: input, environment: environment)
  }

  static func run(
    arguments: [String], input: String = "", environment: [String: String?] = [:]
  ) async throws -> CommandResult {
    try await Command.run(
      path, arguments, environment: cleared.merging(environment) { $1 }, standardInput: Array(input.utf8))
  }

  static func start(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningCommand {
    try start(arguments, environment: environment)
  }

  static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningCommand {
    try Command(path, arguments, environment: cleared.merging(environment) { $1 }).start()
  }
}

extension CommandResult {
  /// Standard output as JSON, line by line.
  var documents: [JSONValue] {
    get throws {
      try standardOutput.split(separator: UInt8(ascii: "\n")).map { line in
        do { return try JSONValue(parsing: line) } catch {
          throw TestKitError("\(error): \(String(decoding: line, as: UTF8.self))\nstandard error: \(errorText)")
        }
      }
    }
  }
}

extension JSONValue {
  var errorCode: String? { self["error"]?["code"]?.string }
  var errorMessage: String? { self["error"]?["message"]?.string }
  var status: Int64? { self["response"]?["status"]?.integer }
}
