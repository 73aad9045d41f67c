package import SluiceJSON

/// How many swaps, reloads and rollbacks an engine has ended since its start, by their outcome.
package struct SwapCounts: Sendable {
  private var counts: [SwapReport.Outcome: UInt64] = [:]

  package init() {}

  package mutating func add(_ outcome: SwapReport.Outcome) { counts[outcome, default: 0] += 1 }

  package func document() -> JSONValue {
    let document = JSONValue.object()
    for outcome in SwapReport.Outcome.allCases {
      document[outcome.rawValue] = JSONValue(Int64(clamping: self[outcome]))
    }
    return document
  }

  /// Writes every outcome, because Prometheus sees no increase from a series that does not exist yet.
  package func write(to text: inout PrometheusText) {
    text.begin("sluice_engine_swaps_total", "counter", "Swaps, reloads and rollbacks that ended.")
    for outcome in SwapReport.Outcome.allCases { text.sample(self[outcome], [("outcome", outcome.rawValue)]) }
  }

  private subscript(outcome: SwapReport.Outcome) -> UInt64 { counts[outcome] ?? 0 }
}

extension PrometheusText {
  /// Writes how many event loops do not end their current call.
  package mutating func writeStuckLoops(_ count: Int) {
    begin("sluice_engine_stuck_loops", "gauge", "Event loops that a call has occupied for longer than watchdog.limit.")
    sample(UInt64(count))
  }
}
