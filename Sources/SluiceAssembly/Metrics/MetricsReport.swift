public import SluiceMetrics

/// The counts of a built-in `metrics` up to one moment, of all loops.
public struct MetricsReport: Sendable, Hashable {
  /// Transactions of one method and one class of final status.
  package struct Series: Sendable, Hashable {
    package let method: MethodClass
    package let status: StatusClass
    /// The time from submission to the end, including retries; one entry for each transaction.
    package internal(set) var durations: DurationCounts
  }

  /// Transactions that began, including those in flight.
  public internal(set) var begun: UInt64 = 0
  /// Transactions that ended, by outcome.
  public internal(set) var outcomes: [OutcomeClass: UInt64] = [:]
  /// Requests on the wire: each attempt and each redirect.
  public internal(set) var hops: UInt64 = 0
  /// Decisions to make another attempt, by stages and by the retry policy.
  public internal(set) var retries: UInt64 = 0
  /// Decisions to follow a redirect.
  public internal(set) var redirects: UInt64 = 0
  /// Retries that the policy did not make because the engine's `retry.budget` was used up.
  public internal(set) var retriesOverBudget: UInt64 = 0
  /// Bytes on the wire of the last hop of each transaction that ended; ``Engine/metrics()`` has those of every hop.
  public internal(set) var bytesSent: UInt64 = 0
  /// Bytes of the response's body before decoding, counted for the same hops as ``bytesSent``.
  public internal(set) var bytesReceived: UInt64 = 0
  /// From submission to the end, in nanoseconds, for quantiles.
  public internal(set) var duration = LatencySnapshot()
  /// The time from just before the request is sent to the head of the response, in nanoseconds; one entry for each
  /// response.
  public internal(set) var timeToHead = LatencySnapshot()
  /// The times of ``responseTime`` between the bounds of OpenTelemetry.
  public internal(set) var timeToHeadCounts = DurationCounts()
  /// `http.client.request.duration`; only combinations that occurred, ordered by method and status.
  package internal(set) var series: [Series] = []

  /// The metrics of the engine's plugins.
  package internal(set) var plugins = PluginMetricsReport()

  package init() {}

  /// Transactions that ended, with any outcome.
  public var completed: UInt64 { outcomes.values.reduce(0, &+) }

  /// Transactions that have begun and not ended.
  public var inFlight: UInt64 { begun > completed ? begun - completed : 0 }

  /// Transactions that ended with that outcome; 0 if there are none.
  public subscript(outcome: OutcomeClass) -> UInt64 { outcomes[outcome] ?? 0 }

  /// The durations of one method and status class; empty without any.
  package subscript(method: MethodClass, status: StatusClass) -> DurationCounts {
    series.first { $0.method == method && $0.status == status }?.durations ?? DurationCounts()
  }

  mutating func add(_ method: MethodClass, _ status: StatusClass, _ durations: DurationCounts) {
    guard durations.count > 0 else { return }
    if let index = series.firstIndex(where: { $0.method == method && $0.status == status }) {
      series[index].durations.merge(durations)
    } else {
      let place = (method.rawValue, status.rawValue)
      let index = series.firstIndex { ($0.method.rawValue, $0.status.rawValue) > place } ?? series.endIndex
      series.insert(Series(method: method, status: status, durations: durations), at: index)
    }
  }
}
