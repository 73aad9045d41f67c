import Sluice

/// A function that takes log lines. It stands for the logger of another package.
typealias LogFunction = @Sendable (_ level: LogLine.Level, _ message: String, _ metadata: [String: String]) -> Void

/// An engine whose log lines go to a logger of the program.
func engine(_ configuration: Configuration, loggingTo log: @escaping LogFunction) throws -> Engine {
  try Engine(configuration, minimumLogLevel: .info) { line in
    guard line.level >= .info else { return }
    var metadata: [String: String] = [:]
    for attribute in line.attributes { metadata[attribute.name] = "\(attribute.shownValue)" }
    metadata["sluice.plugin"] = line.plugin
    metadata["sluice.stage"] = line.stage
    metadata["sluice.request_id"] = line.requestID
    log(line.level, line.message, metadata)
  }
}

/// Prints the engine's lines as a logger would.
func forwardLog(_ url: HTTPURL) async throws {
  let engine = try engine(Configuration()) { level, message, _ in print("forwardLog: \(level): \(message)") }
  _ = try await engine.perform(Request(url: url, headers: ["keep-alive": "timeout=5"]))
  await engine.shutdown()
}
