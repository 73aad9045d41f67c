import Sluice
import SluiceJSON
@testable import SluicePipeline
import Testing

@testable import SluiceAssembly

/// The content of a report as text and as JSON, compared with literals.
@Suite struct MetricsReportTests {
  private static func counts(_ milliseconds: [UInt64]) -> DurationCounts {
    let histogram = DurationHistogram()
    for time in milliseconds { histogram.record(nanoseconds: time * 1_000_000) }
    return histogram.snapshot()
  }

  private static var report: MetricsReport {
    var report = MetricsReport()
    report.traffic.begun = 5
    report.traffic.outcomes = [.succeeded: 2, .failed: 1, .cancelled: 1]
    report.traffic.hops = 6
    report.traffic.retries = 2
    report.traffic.retriesOverBudget = 3
    report.traffic.bytesSent = 1000
    report.traffic.bytesReceived = 2000
    report.timeToHeadCounts = counts([5, 6])
    report.add(.post, .none, counts([20000]))
    report.add(.get, .success, counts([5, 75]))
    report.add(.get, .success, counts([250]))
    return report
  }

  @Test func `a duration is counted in the first bucket whose bound is not below the duration`() {
    #expect(Self.counts([0, 5]).counts.first == 2)
    let beyond = DurationHistogram()
    beyond.record(nanoseconds: 5_000_001)
    beyond.record(nanoseconds: 10_000_000_000)
    beyond.record(nanoseconds: 10_000_000_001)
    beyond.record(nanoseconds: .max)
    #expect(beyond.snapshot().counts == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2])
  }

  @Test func `series are ordered by method and status, and series of all loops are merged`() {
    let series = Self.report.series
    #expect(series.map(\.method) == [.get, .post])
    #expect(Self.report[.get, .success].count == 3)
    #expect(Self.report[.get, .serverError].count == 0)
    #expect(Self.report.traffic.inFlight == 1)
  }

  @Test func `less common methods are counted in one class`() {
    for method in MethodClass.allCases where method != .other { #expect(MethodClass(method: method.text) == method) }
    for method in ["get", "PROPFIND", "", "_OTHER"] { #expect(MethodClass(method: method) == .other) }
  }

  @Test func `the text is in the Prometheus format`() {
    let text = Self.report.prometheusText(labels: ["stage": "a\"b\\c\nd"])
    let stage = "stage=\"a\\\"b\\\\c\\nd\""
    #expect(text.contains("\nhttp_client_active_requests{\(stage)} 1\n"))
    #expect(text.contains("\nsluice_transactions_total{\(stage),outcome=\"failed\"} 1\n"))
    #expect(Self.report.prometheusText() == Self.golden)
  }

  @Test func `the JSON document has the same values`() throws {
    let document = Self.report.document()
    #expect(
      document["transactions"]?.description
        == "{\"begun\":5,\"inFlight\":1,\"succeeded\":2,\"failed\":1,\"cancelled\":1}")
    #expect(document["hops"]?.integer == 6)
    #expect(document["retriesOverBudget"]?.integer == 3)
    #expect(
      document["bounds"]?.description == "[0.005,0.01,0.025,0.05,0.075,0.1,0.25,0.5,0.75,1.0,2.5,5.0,7.5,10.0]")
    let first = try #require(document["requests"]?[0])
    #expect(first["method"]?.string == "GET")
    #expect(first["status"]?.string == "2xx")
    #expect(first["count"]?.integer == 3)
    #expect(first["sum"]?.real == 0.33)
    #expect(first["counts"]?.description == "[1,0,0,0,1,0,1,0,0,0,0,0,0,0,0]")
    #expect(document["requests"]?[1]?["status"]?.string == "none")
    #expect(document["duration"]?["count"]?.integer == 0)
  }

  private static let golden = """
    # HELP http_client_request_duration_seconds Time from the submission of a transaction to its end, retries included.
    # TYPE http_client_request_duration_seconds histogram
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.005"} 1
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.01"} 1
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.025"} 1
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.05"} 1
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.075"} 2
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.1"} 2
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.25"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.5"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="0.75"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="1.0"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="2.5"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="5.0"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="7.5"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="10.0"} 3
    http_client_request_duration_seconds_bucket{http_request_method="GET",http_response_status_class="2xx",le="+Inf"} 3
    http_client_request_duration_seconds_sum{http_request_method="GET",http_response_status_class="2xx"} 0.33
    http_client_request_duration_seconds_count{http_request_method="GET",http_response_status_class="2xx"} 3
    \(zeros("http_client_request_duration_seconds", "http_request_method=\"POST\",http_response_status_class=\"none\","))
    http_client_request_duration_seconds_bucket{http_request_method="POST",http_response_status_class="none",le="+Inf"} 1
    http_client_request_duration_seconds_sum{http_request_method="POST",http_response_status_class="none"} 20.0
    http_client_request_duration_seconds_count{http_request_method="POST",http_response_status_class="none"} 1
    # HELP http_client_active_requests Transactions in flight.
    # TYPE http_client_active_requests gauge
    http_client_active_requests 1
    # HELP sluice_time_to_head_seconds Time from just before the first byte is sent to the head of the response.
    # TYPE sluice_time_to_head_seconds histogram
    sluice_time_to_head_seconds_bucket{le="0.005"} 1
    sluice_time_to_head_seconds_bucket{le="0.01"} 2
    sluice_time_to_head_seconds_bucket{le="0.025"} 2
    sluice_time_to_head_seconds_bucket{le="0.05"} 2
    sluice_time_to_head_seconds_bucket{le="0.075"} 2
    sluice_time_to_head_seconds_bucket{le="0.1"} 2
    sluice_time_to_head_seconds_bucket{le="0.25"} 2
    sluice_time_to_head_seconds_bucket{le="0.5"} 2
    sluice_time_to_head_seconds_bucket{le="0.75"} 2
    sluice_time_to_head_seconds_bucket{le="1.0"} 2
    sluice_time_to_head_seconds_bucket{le="2.5"} 2
    sluice_time_to_head_seconds_bucket{le="5.0"} 2
    sluice_time_to_head_seconds_bucket{le="7.5"} 2
    sluice_time_to_head_seconds_bucket{le="10.0"} 2
    sluice_time_to_head_seconds_bucket{le="+Inf"} 2
    sluice_time_to_head_seconds_sum 0.011
    sluice_time_to_head_seconds_count 2
    # HELP sluice_transactions_total Transactions that ended.
    # TYPE sluice_transactions_total counter
    sluice_transactions_total{outcome="succeeded"} 2
    sluice_transactions_total{outcome="failed"} 1
    sluice_transactions_total{outcome="cancelled"} 1
    # HELP sluice_hops_total Requests on the wire.
    # TYPE sluice_hops_total counter
    sluice_hops_total 6
    # HELP sluice_retries_total Decisions to make one more attempt.
    # TYPE sluice_retries_total counter
    sluice_retries_total 2
    # HELP sluice_retries_over_budget_total Retries that were not made, because the retry budget was used up.
    # TYPE sluice_retries_over_budget_total counter
    sluice_retries_over_budget_total 3
    # HELP sluice_redirects_total Redirects that were followed.
    # TYPE sluice_redirects_total counter
    sluice_redirects_total 0
    # HELP sluice_bytes_sent_total Bytes sent by all hops.
    # TYPE sluice_bytes_sent_total counter
    sluice_bytes_sent_total 1000
    # HELP sluice_bytes_received_total Body bytes received by all hops.
    # TYPE sluice_bytes_received_total counter
    sluice_bytes_received_total 2000

    """

  private static func zeros(_ name: String, _ labels: String) -> String {
    ["0.005", "0.01", "0.025", "0.05", "0.075", "0.1", "0.25", "0.5", "0.75", "1.0", "2.5", "5.0", "7.5", "10.0"]
      .map { "\(name)_bucket{\(labels)le=\"\($0)\"} 0" }.joined(separator: "\n")
  }
}
