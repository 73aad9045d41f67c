public import SluicePipeline

/// The counts of one built-in `metrics` at one moment, summed over all loops.
public struct MetricsReport: Sendable, Hashable {
  /// Transactions of one method and one class of final status.
  package struct Series: Sendable, Hashable {
    package let method: MethodClass
    package let status: StatusClass
    /// The time from submission to the end, including retries; one entry for each transaction.
    package internal(set) var durations: DurationCounts
  }

  /// The engine's own counts, as ``Engine/metrics()`` gives them. They count all transactions since the engine began,
  /// even those before this stage was in the pipeline.
  public package(set) var traffic = MetricsSnapshot()
  /// The time from just before the request is sent to the head of the response, in nanoseconds. There is one entry for
  /// each response.
  public internal(set) var timeToHead = LatencySnapshot()
  /// The same times as in ``timeToHead``, counted in buckets with the bounds that OpenTelemetry recommends.
  package internal(set) var timeToHeadCounts = DurationCounts()
  /// The series of `http.client.request.duration`: only combinations that occurred, ordered by method and status.
  package internal(set) var series: [Series] = []

  /// The metrics of the engine's plugins.
  package var plugins = PluginMetricsReport()

  package init() {}

  /// The durations of one method and status class; empty if there are none.
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
