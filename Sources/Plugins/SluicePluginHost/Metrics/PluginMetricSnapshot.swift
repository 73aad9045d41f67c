/// One metric of a plugin at one moment.
package struct PluginMetricSnapshot: Sendable, Hashable {
  package struct Series: Sendable, Hashable {
    /// The label values, one for each label name of the definition.
    package let labels: [String]
    /// The value; for a histogram the sum.
    package let value: Double
    /// The counts of a histogram's buckets, not cumulative. A histogram has one bucket more than bounds.
    package let counts: [UInt64]
  }

  /// The instance's name in the configuration.
  package let stage: String
  package let definition: MetricDefinition
  /// The series that have values, in the order of their labels.
  package let series: [Series]
}
