import SluiceAssembly
public import SluiceJSON
import SluicePipeline

extension Engine {
  /// All counts so far as one JSON document. The member `engine` has the counts of the engine itself, `reports` those
  /// of each built-in `metrics`, and `plugins` those of plugins. `process` has the memory and the descriptors of the
  /// process, and `resource` names the service. docs/metrics.md describes its members. Can be called on any thread.
  public func metricsDocument() -> JSONValue {
    let reports = JSONValue.object()
    for (name, report) in sortedReports {
      let document = report.document()
      // The counts of plugins are left out here, because the whole document already contains them.
      for key in ["metrics", "schedules"] { document.removeMember(key) }
      reports[name] = document
    }
    let engine = metrics().document()
    engine["swaps"] = swaps.counts.document()
    engine["canary"] = swaps.canaryMetrics?.document()
    engine["stuckLoops"] = JSONValue(Int64(swaps.stuckLoopCount))
    let document: JSONValue = [
      "engine": engine, "reports": reports, "plugins": pluginMetrics.document(),
      "process": ProcessUsage.current.document(),
    ]
    if let serviceName { document["resource"] = ["service.name": JSONValue(serviceName)] }
    return document
  }

  /// All counts so far in Prometheus' text format 0.0.4, to be served as `text/plain; version=0.0.4`. The counts of a
  /// built-in `metrics` have its name as the label `stage`.
  public func prometheusText() -> String {
    var text = PrometheusText(labels: [:])
    if let serviceName { text.target([("service_name", serviceName)]) }
    ProcessUsage.current.write(to: &text)
    metrics().write(to: &text)
    swaps.counts.write(to: &text)
    swaps.canaryMetrics?.write(to: &text)
    text.writeStuckLoops(swaps.stuckLoopCount)
    let reports = sortedReports.map { (labels: [(name: "stage", value: $0.key)], report: $0.value) }
    if !reports.isEmpty { MetricsReport.write(reports, to: &text) }
    return text.text + pluginMetrics.prometheusText()
  }

  /// The name of the program from the configuration, or from the environment if the configuration has no name.
  private var serviceName: String? {
    swaps.published.configuration.serviceName ?? TelemetryEnvironment { _ in }.serviceName
  }

  private var sortedReports: [(key: String, value: MetricsReport)] { metricsReports.sorted { $0.key < $1.key } }
}
