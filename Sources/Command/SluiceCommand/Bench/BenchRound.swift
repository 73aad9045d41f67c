/// The measurements of one round.
struct BenchRound: Sendable {
  let requests: Int
  let failed: Int
  let firstFailure: String?
  let seconds: Double
  /// Processor time of the engine's loop.
  let processorSeconds: Double

  var requestsPerSecond: Double { Double(requests) / max(seconds, 1e-9) }
  /// Processor time per request.
  var processorTime: Double { processorSeconds / Double(requests) }
}

/// The median of some numbers, and their range.
struct BenchSpread: Sendable, Equatable {
  let median: Double
  let lowest: Double
  let highest: Double

  /// - Parameter values: at least one.
  init(_ values: [Double]) {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    lowest = sorted[0]
    highest = sorted[sorted.count - 1]
  }

  /// `9.50 µs (9.20–9.90)`.
  func text(_ format: (Double) -> String) -> String { "\(format(median)) (\(format(lowest)) to \(format(highest)))" }
}
