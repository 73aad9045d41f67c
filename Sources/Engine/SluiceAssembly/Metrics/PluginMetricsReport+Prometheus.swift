import SluiceMessages
import SluicePipeline
import SluicePluginHost

extension PluginMetricsReport {
  /// The report in Prometheus' text format 0.0.4.
  ///
  /// - Parameter labels: added to every sample.
  public func prometheusText(labels: [String: String] = [:]) -> String {
    var text = PrometheusText(labels: labels)
    for metric in metrics {
      text.begin(metric.prometheusName, metric.kind.rawValue, metric.description)
      let names = metric.labelNames.map(PrometheusName.label)
      for series in metric.series {
        let pairs = Array(zip(names, series.labels)).map { (name: $0.0, value: $0.1) }
        switch metric.kind {
        case .counter, .gauge: text.sample(series.value, pairs)
        case .histogram: text.histogram(series.counts, metric.bounds, sum: series.value, pairs)
        }
      }
    }
    writeSchedules(to: &text)
    return text.text
  }

  func writeSchedules(to text: inout PrometheusText) {
    guard !schedules.isEmpty || text.writesEmptyMetrics else { return }
    text.begin("sluice_scheduled_work_total", "counter", "Calls of scheduled work that ended.")
    for schedule in schedules {
      for outcome in WorkOutcome.allCases {
        text.sample(
          UInt64(clamping: schedule[outcome]),
          [("stage", schedule.stage), ("name", schedule.name), ("outcome", outcome.rawValue)])
      }
    }
    text.begin(
      "sluice_scheduled_work_left_out_total", "counter", "Periods left out because the previous call was still running."
    )
    for schedule in schedules {
      text.sample(UInt64(clamping: schedule.leftOut), [("stage", schedule.stage), ("name", schedule.name)])
    }
  }
}
