/// What a plugin recorded in one metric up to one moment.
package struct PluginMetricSnapshot: Sendable, Hashable {
  package struct Series: Sendable, Hashable {
    /// As many as the definition has names.
    package let labels: [String]
    /// Of a histogram the sum.
    package let value: Double
    /// Of a histogram one more than it has bounds; not cumulative.
    package let counts: [UInt64]
  }

  /// The instance's name in the configuration.
  package let stage: String
  package let definition: MetricDefinition
  /// What occurred, in the order of the labels.
  package let series: [Series]
}
