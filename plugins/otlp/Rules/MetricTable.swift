package import SluiceMessages

/// Durations in seconds, counted in the buckets that OpenTelemetry recommends for `http.client.request.duration`.
package struct DurationPoint: Sendable, Hashable {
  package static let bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

  package private(set) var count: UInt64 = 0
  package private(set) var sum = 0.0
  package private(set) var minimum = Double.infinity
  package private(set) var maximum = 0.0
  /// The counts of the buckets, one more than there are bounds. A value that is equal to a bound is counted in the
  /// bucket below the bound.
  package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)

  package init() {}

  package mutating func record(_ seconds: Double) {
    count += 1
    sum += seconds
    minimum = min(minimum, seconds)
    maximum = max(maximum, seconds)
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
  }
}

/// The histograms that are exported: one for each combination of attributes. They are cumulative: nothing is reset when
/// they are exported.
package struct MetricTable: Sendable {
  /// The maximum number of combinations of attributes: OpenTelemetry's default. Further combinations are counted
  /// together.
  package static let seriesLimit = 2000

  package enum Name: String, Sendable, CaseIterable {
    case request = "http.client.request.duration"
    case transaction = "sluice.transaction.duration"

    package var description: String {
      switch self {
      case .request: "Duration of HTTP client requests."
      case .transaction: "Duration of transactions, from submission to the end, with their retries and redirects."
      }
    }
  }

  private var series: [Name: [[Attribute]: DurationPoint]] = [:]
  private let limit: Int

  package init(limit: Int = Self.seriesLimit) { self.limit = limit }

  package var isEmpty: Bool { series.isEmpty }

  package mutating func record(_ name: Name, _ attributes: [Attribute], seconds: Double) {
    let points = series[name] ?? [:]
    let isKnown = points[attributes] != nil || points.count < limit - 1
    series[name, default: [:]][isKnown ? attributes : Self.overflow, default: DurationPoint()].record(seconds)
  }

  static let overflow = [Attribute("otel.metric.overflow", .bool(true))]

  /// The metrics that have points, in a fixed order.
  package var metrics: [(name: Name, points: [(attributes: [Attribute], point: DurationPoint)])] {
    Name.allCases.compactMap { name in
      series[name].map { points in (name, points.map { (attributes: $0.key, point: $0.value) }) }
    }
  }
}
