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
    text.counter("sluice_redirects_total", "Redirects that were followed.", redirects)
    text.counter("sluice_bytes_sent_total", "Bytes sent by the last hop of each transaction.", bytesSent)
    text.counter(
      "sluice_bytes_received_total", "Body bytes received by the last hop of each transaction.", bytesReceived)
    return text.text
  }
}

/// Writes samples, one a line, under the metric that was begun last.
private struct PrometheusText {
  typealias Labels = [(name: String, value: String)]

  private(set) var text = ""
  private var name = ""
  private let common: Labels

  init(labels: [String: String]) { common = labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

  mutating func begin(_ name: String, _ type: String, _ help: String) {
    self.name = name
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func counter(_ name: String, _ help: String, _ value: UInt64) {
    begin(name, "counter", help)
    sample(value)
  }

  mutating func sample(_ value: UInt64, _ labels: Labels = []) { write("", labels, "\(value)") }

  /// Buckets are cumulative, and the last one holds all.
  mutating func histogram(_ durations: DurationCounts, _ labels: Labels) {
    var total: UInt64 = 0
    for (index, count) in durations.counts.enumerated() {
      total += count
      let bound = index < DurationCounts.bounds.count ? "\(DurationCounts.bounds[index])" : "+Inf"
      write("_bucket", labels + [("le", bound)], "\(total)")
    }
    write("_sum", labels, "\(Double(durations.sumNanoseconds) / 1e9)")
    write("_count", labels, "\(total)")
  }

  private mutating func write(_ suffix: String, _ labels: Labels, _ value: String) {
    let pairs = (common + labels).map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    text += "\(name)\(suffix)\(pairs.isEmpty ? "" : "{\(pairs)}") \(value)\n"
  }

  private static func escaped(_ value: String) -> String {
    var text = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
