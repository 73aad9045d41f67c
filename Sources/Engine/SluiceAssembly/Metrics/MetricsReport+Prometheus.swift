import SluicePipeline

extension MetricsReport {
  /// The report in Prometheus' text format 0.0.4, to be served as `text/plain; version=0.0.4`.
  ///
  /// - Parameter labels: added to every sample, for instance the name of the stage if a program has several.
  public func prometheusText(labels: [String: String] = [:]) -> String {
    var text = PrometheusText(labels: labels)
    Self.write([(labels: [], report: self)], to: &text)
    return text.text + plugins.prometheusText(labels: labels)
  }

  /// Writes the metrics of all reports. Each metric has one `# HELP` and `# TYPE` for all reports, as the format
  /// demands. Metrics of plugins are not written.
  package static func write(
    _ reports: [(labels: PrometheusText.Labels, report: MetricsReport)], to text: inout PrometheusText
  ) {
    text.begin(
      "http_client_request_duration_seconds", "histogram",
      "Time from the submission of a transaction to its end, retries included.")
    for (labels, report) in reports {
      for series in report.series {
        text.histogram(
          series.durations,
          labels + [
            ("http_request_method", series.method.text), ("http_response_status_class", series.status.text),
          ])
      }
    }
    text.begin("http_client_active_requests", "gauge", "Transactions in flight.")
    for (labels, report) in reports { text.sample(report.traffic.inFlight, labels) }
    text.begin(
      "sluice_time_to_head_seconds", "histogram",
      "Time from just before the first byte is sent to the head of the response.")
    for (labels, report) in reports { text.histogram(report.timeToHeadCounts, labels) }
    text.begin("sluice_transactions_total", "counter", "Transactions that ended.")
    for (labels, report) in reports {
      for outcome in OutcomeClass.allCases {
        text.sample(report.traffic[outcome], labels + [("outcome", "\(outcome)")])
      }
    }
    for (name, help, value) in counters {
      text.begin(name, "counter", help)
      for (labels, report) in reports { text.sample(report.traffic[keyPath: value], labels) }
    }
  }

  private static var counters: [(String, String, KeyPath<MetricsSnapshot, UInt64>)] {
    [
      ("sluice_hops_total", "Requests on the wire.", \.hops),
      ("sluice_retries_total", "Decisions to make one more attempt.", \.retries),
      (
        "sluice_retries_over_budget_total", "Retries that were not made, because the retry budget was used up.",
        \.retriesOverBudget
      ),
      ("sluice_redirects_total", "Redirects that were followed.", \.redirects),
      ("sluice_bytes_sent_total", "Bytes sent by all hops.", \.bytesSent),
      ("sluice_bytes_received_total", "Body bytes received by all hops.", \.bytesReceived),
    ]
  }
}
