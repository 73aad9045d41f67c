import CSluice
import SluiceSupport

/// The metrics of an instance while it is created. New metrics can be defined until the draft is frozen.
final class MetricDraft: Sendable {
  private struct State: Sendable {
    var metrics: [PluginMetric] = []
    /// The names in Prometheus' form. Two metrics with different names can have the same name in this form.
    var names: Set<String> = []
    var isFrozen = false
  }

  static let maximumMetrics = 1000

  private let state = Locked(State())
  /// The metrics of the previous instance, by name.
  private let predecessors: [String: PluginMetric]

  init(continuing predecessors: [PluginMetric] = []) {
    self.predecessors = Dictionary(predecessors.map { ($0.definition.name, $0) }) { first, _ in first }
  }

  enum Refusal: Error { case frozen, tooMany, twice }

  /// Returns the metric's number, from 1.
  func define(_ definition: MetricDefinition, of instance: String) -> Result<sluice_metric, Refusal> {
    state.withLock { state in
      if state.isFrozen { return .failure(.frozen) }
      guard state.metrics.count < Self.maximumMetrics else { return .failure(.tooMany) }
      guard state.names.insert(PrometheusName.metric(instance, definition)).inserted else { return .failure(.twice) }
      state.metrics.append(continued(definition) ?? PluginMetric(definition))
      return .success(sluice_metric(state.metrics.count))
    }
  }

  /// The metric of the previous instance, if the definition is the same. Both instances then record into this metric
  /// during the swap.
  private func continued(_ definition: MetricDefinition) -> PluginMetric? {
    guard let metric = predecessors[definition.name], metric.definition.isContinued(by: definition) else { return nil }
    return metric
  }

  var isFrozen: Bool { state.withLock { $0.isFrozen } }

  /// The metrics that were defined so far.
  var metrics: [PluginMetric] { state.withLock { $0.metrics } }

  func freeze() -> [PluginMetric] {
    state.withLock { state in
      state.isFrozen = true
      defer { state.metrics = [] }
      return state.metrics
    }
  }
}
