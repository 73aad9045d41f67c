import SluicePipeline
import SluicePluginHost

extension Engine {
  /// What each built-in `metrics` counted so far, by its name in the configuration. From any thread; the counts of the engine
  /// itself and of its stages are ``metrics()``.
  public var metricsReports: [String: MetricsReport] {
    let plugins = pluginMetrics
    let retriesOverBudget = metrics().retriesOverBudget
    return instances.stages.compactMapValues { stage in
      guard var report = (stage.tracer as? MetricsStage)?.report() else { return nil }
      report.plugins = plugins
      report.retriesOverBudget = retriesOverBudget
      return report
    }
  }

  /// What the plugins recorded so far in metrics of their own, and what became of their scheduled work. From any thread; it
  /// is part of each of ``metricsReports`` too.
  public var pluginMetrics: PluginMetricsReport {
    PluginMetricsReport(instances.plugins.flatMap(\.metricSnapshots), schedules)
  }
}
