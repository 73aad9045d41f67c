import SluiceMetrics

extension MetricsReport {
  /// The report in Prometheus' text format 0.0.4, to be served as `text/plain; version=0.0.4`.
  ///
  /// - Parameter labels: added to every sample, for instance the name of the stage where a program has several.
  public func prometheusText(labels: [String: String] = [:]) -> String {
    var text = PrometheusText(labels: labels)
    text.begin(
      "http_client_request_duration_seconds", "histogram",
      "Time from the submission of a transaction to its end, retries included.")
    for series in series {
      text.histogram(
        series.durations,
        [("http_request_method", series.method.text), ("http_response_status_class", series.status.text)])
    }
    text.begin("http_client_active_requests", "gauge", "Transactions in flight.")
    text.sample(inFlight)
    text.begin("sluice_time_to_head_seconds", "histogram", "Time from before bytes leave to the head of the response.")
    text.histogram(timeToHeadCounts, [])
    text.begin("sluice_transactions_total", "counter", "Transactions that ended.")
    for outcome in OutcomeClass.allCases { text.sample(self[outcome], [("outcome", "\(outcome)")]) }
    text.counter("sluice_hops_total", "Requests on the wire.", hops)
    text.counter("sluice_retries_total", "Decisions to make one more attempt.", retries)
    text.counter(
      "sluice_retries_over_budget_total", "Retries that were not made, because the retry budget was used up.",
      retriesOverBudget)
    text.counter("sluice_redirects_total", "Redirects that were followed.", redirects)
    text.counter("sluice_bytes_sent_total", "Bytes sent by the last hop of each transaction.", bytesSent)
    text.counter(
      "sluice_bytes_received_total", "Body bytes received by the last hop of each transaction.", bytesReceived)
    return text.text + plugins.prometheusText(labels: labels)
  }
}
