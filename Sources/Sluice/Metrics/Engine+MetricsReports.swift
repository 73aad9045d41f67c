import SluicePipeline
import SluicePluginHost

extension Engine {
  /// What each built-in `metrics` counted so far, by its name in the configuration. From any thread; the counts of the engine
  /// itself and of its stages are ``metrics()``.
  public var metricsReports: [String: MetricsReport] {
    let plugins = pluginMetrics
    let retriesOverBudget = metrics().retriesOverBudget
    var reports: [String: MetricsReport] = [:]
    for part in swaps.published.parts {
      guard var report = (part.stage.tracer as? MetricsStage)?.report() else { continue }
      report.plugins = plugins
      report.retriesOverBudget = retriesOverBudget
      reports[part.plugin.name] = report
    }
    return reports
  }

  /// What the plugins recorded so far in metrics of their own, and what became of their scheduled work. From any thread; it
  /// is part of each of ``metricsReports`` too.
  public var pluginMetrics: PluginMetricsReport {
    PluginMetricsReport(swaps.published.instances.flatMap(\.metricSnapshots), schedules)
  }
}
