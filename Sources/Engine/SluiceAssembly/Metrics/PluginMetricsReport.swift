package import SluicePipeline
package import SluicePluginHost

/// The metrics that the plugins of an engine have recorded up to one moment, and the results of their scheduled work.
public struct PluginMetricsReport: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable { case counter, gauge, histogram }

  /// One combination of label values.
  public struct Series: Sendable, Hashable {
    /// One value for each label name of the metric. For combinations beyond the limit, all values are `overflow`.
    public let labels: [String]
    /// For a counter the sum of all amounts, for a gauge the last value, for a histogram the sum of all values.
    public let value: Double
    /// For a histogram: the element at `i` counts values above bound `i - 1` and up to bound `i`; there is one more
    /// element than there are bounds.
    package let counts: [UInt64]

    /// For a histogram: how many values were recorded.
    public var count: UInt64 { counts.reduce(0, &+) }
  }

  /// One metric of one instance.
  public struct Metric: Sendable, Hashable {
    /// The instance's name in the configuration.
    package let stage: String
    /// The name that the plugin has defined.
    package let name: String
    /// The name for Prometheus, which begins with the instance's name. No other metric of a scrape has samples with the
    /// names of its samples.
    package let prometheusName: String
    package let kind: Kind
    package let description: String
    /// The unit in UCUM; empty if the metric has none.
    package let unit: String
    package let labelNames: [String]
    /// The bounds of a histogram, ascending.
    package let bounds: [Double]
    /// The series, ordered by their labels. If the metric has labels, only the series that occurred.
    package let series: [Series]

    /// The series with these label values; nil if they did not occur.
    public subscript(labels: String...) -> Series? { series.first { $0.labels == labels } }
  }

  /// The metrics, in the order of the instances in the configuration, and then of the plugin's definitions.
  package let metrics: [Metric]
  package let schedules: [ScheduleReport]

  package init() { (metrics, schedules) = ([], []) }

  /// The metric of an instance, by its name in the plugin.
  public subscript(stage: String, name: String) -> Metric? { metrics.first { $0.stage == stage && $0.name == name } }
}

extension PluginMetricsReport {
  package init(_ snapshots: [PluginMetricSnapshot], _ schedules: [ScheduleReport]) {
    var names = PrometheusText.reservedNames
    metrics = snapshots.map { Metric($0, uniqueIn: &names) }
    self.schedules = schedules
  }
}

extension PluginMetricsReport.Metric {
  /// A metric gets a number if one of its samples would have a name that is taken.
  fileprivate init(_ snapshot: PluginMetricSnapshot, uniqueIn names: inout Set<String>) {
    let definition = snapshot.definition
    kind =
      switch definition.kind {
      case .counter: .counter
      case .gauge: .gauge
      case .histogram: .histogram
      }
    let wanted = PrometheusName.metric(snapshot.stage, definition)
    var unique = wanted
    var number = 1
    while !names.isDisjoint(with: PrometheusName.samples(of: unique, kind.rawValue)) {
      number += 1
      unique = "\(wanted)_\(number)"
    }
    names.formUnion(PrometheusName.samples(of: unique, kind.rawValue))
    stage = snapshot.stage
    name = definition.name
    prometheusName = unique
    description = definition.description
    unit = definition.unit
    labelNames = definition.labels
    bounds = definition.bounds
    series = snapshot.series.map { PluginMetricsReport.Series(labels: $0.labels, value: $0.value, counts: $0.counts) }
  }
}
