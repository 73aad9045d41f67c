/// One metric of a plugin at one moment.
package struct PluginMetricSnapshot: Sendable, Hashable {
  package struct Series: Sendable, Hashable {
    /// The label values, as many as the definition has names.
    package let labels: [String]
    /// The value; for a histogram the sum.
    package let value: Double
    /// The counts of a histogram's buckets, which are one more than its bounds. They are not cumulative.
    package let counts: [UInt64]
  }

  /// The instance's name in the configuration.
  package let stage: String
  package let definition: MetricDefinition
  /// The series that have values, in the order of their labels.
  package let series: [Series]
}
