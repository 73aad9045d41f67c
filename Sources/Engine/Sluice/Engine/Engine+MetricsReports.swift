public import SluiceAssembly
import SluicePipeline
import SluicePluginHost

extension Engine {
  /// The counts of each built-in `metrics` so far, by its name in the configuration. Can be called on any thread.
  /// ``metrics()`` has the counts of the engine itself and of its stages.
  public var metricsReports: [String: MetricsReport] {
    let plugins = pluginMetrics
    let traffic = metrics()
    var reports: [String: MetricsReport] = [:]
    for part in swaps.published.parts {
      guard var report = (part.stage.tracer as? MetricsStage)?.report() else { continue }
      report.plugins = plugins
      report.traffic = traffic
      reports[part.plugin.name] = report
    }
    return reports
  }

  /// The metrics that plugins have recorded so far, and the results of their scheduled work. Each of ``metricsReports``
  /// contains it too. Can be called on any thread.
  public var pluginMetrics: PluginMetricsReport {
    PluginMetricsReport(swaps.published.instances.flatMap(\.metricSnapshots), schedules)
  }
}
