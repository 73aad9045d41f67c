import Sluice

/// Passes the duration of each transaction to `record`, which stands for the timer of another package.
struct ForwardResults: TransactionDelegate {
  let record: @Sendable (_ duration: Duration, _ labels: [(String, String)]) -> Void

  /// All methods that are not in this set are counted together, so that the number of series has a bound.
  private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]

  func transactionDidComplete(_ result: TransactionResult) {
    let method = result.originalRequest.method
    record(
      result.duration,
      [
        ("http.request.method", Self.methods.contains(method) ? method : "_OTHER"),
        ("http.response.status_code", result.status.map { "\($0)" } ?? "none"),
        ("error.type", result.error.map { "\($0.code)" } ?? "none"),
      ])
  }
}

/// Reads the counts of an engine until the task is cancelled. Passes them to `record`, which stands for the gauges of
/// another package.
func forwardCounts(of engine: Engine, every period: Duration, to record: (String, UInt64) -> Void) async {
  repeat {
    let counts = engine.metrics()
    record("http.client.active_requests", counts.inFlight)
    record("sluice.retries", counts.retries)
    record("sluice.hops", counts.hops)
    try? await Task.sleep(for: period)
  } while !Task.isCancelled
}

/// Prints what a metrics package would record.
func forwardResults(_ url: HTTPURL) async throws {
  let engine = try Engine(
    Configuration(),
    delegate: ForwardResults { _, labels in print("forwardResults: \(labels.map(\.1).joined(separator: " "))") })
  _ = try await engine.perform(Request(url: url))

  let task = Task {
    await forwardCounts(of: engine, every: .seconds(10)) { name, value in print("forwardResults: \(name) \(value)") }
  }
  task.cancel()
  await task.value
  await engine.shutdown()
}
