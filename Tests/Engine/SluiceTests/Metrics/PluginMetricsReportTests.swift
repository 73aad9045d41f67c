import Glibc
import Sluice
import SluiceJSON
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The metrics of plugins in the engine's reports.
@Suite struct PluginMetricsReportTests {
  private static func engine(_ text: String) throws -> Engine {
    try Engine(Configuration(text: Array(text.utf8)))
  }

  @Test func `the engine's reports have the metrics of a C plugin, under its name`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let product = try await PluginCompiler.compile("records-metrics")
    chmod(product.path, 0o755)
    let engine = try Self.engine(
      """
      {"plugins": {"my-plugin": {"library": "\(product.path)"}, "metrics": {"builtin": "metrics"}},
       "request": ["my-plugin"], "tracers": ["metrics"]}
      """)
    _ = try await engine.perform(Request(url: HTTPURL(server.baseURL + "/")))
    let report = engine.pluginMetrics
    let requests = try #require(report["my-plugin", "requests"])
    #expect(requests.prometheusName == "my_plugin_requests_total" && requests.kind == .counter)
    #expect(requests["GET", "a\"b\\c\nd"]?.value == 2.5)
    let text = report.prometheusText(labels: ["job": "test"])
    for line in [
      "# HELP my_plugin_requests_total Say \\\\ \"how\"\\nmany.", "# TYPE my_plugin_requests_total counter",
      #"my_plugin_requests_total{job="test",method="GET",status_class="a\"b\\c\nd"} 2.5"#,
      "# TYPE my_plugin_queue_depth gauge", #"my_plugin_queue_depth{job="test"} -3.0"#,
      "# TYPE my_plugin_body_bytes histogram", #"my_plugin_body_bytes_bucket{job="test",le="1.0"} 1"#,
      #"my_plugin_body_bytes_bucket{job="test",le="100.0"} 3"#, #"my_plugin_body_bytes_bucket{job="test",le="+Inf"} 4"#,
      #"my_plugin_body_bytes_sum{job="test"} 1000102.5"#, #"my_plugin_body_bytes_count{job="test"} 4"#,
      #"my_plugin_calls_total{job="test"} 0.0"#,
    ] { #expect(text.split(separator: "\n").contains(line[...]), "\(line) in \(text)") }
    let metrics = try #require(engine.metricsReports["metrics"])
    #expect(metrics.prometheusText().contains("my_plugin_calls_total 0.0\n"))
    let members = try #require(metrics.document()["metrics"]?.elements)
    #expect(
      members.map { $0 }.contains([
        "stage": "my-plugin", "name": "body", "kind": "histogram", "description": "", "unit": "By",
        "bounds": [1.0, 10.0, 100.0],
        "series": [["labels": [:], "count": 4, "sum": 1000102.5, "counts": [1, 1, 1, 1]]],
      ]))
    await engine.shutdown()
  }

  @Test func `the engine's reports have the metrics of a Swift plugin`() async throws {
    let engine = try Self.engine(
      #"{"plugins": {"work": {"library": "\#(BuiltProducts.library("swift-work"))"}}}"#)
    for number in 1...3 { _ = await engine.notify(topic: "swift-take", payload: ["number": JSONValue(Int64(number))]) }
    _ = await engine.notify(topic: "swift-throw")
    let report = engine.pluginMetrics
    #expect(
      report["work", "handled"]?["swift-take"]?.value == 3 && report["work", "handled"]?["swift-throw"]?.value == 1)
    #expect(report["work", "last.number"]?.series.first?.value == 0)
    #expect(report["work", "time"]?.series.first?.count == 4)
    #expect(report["work", "time"]?.prometheusName == "work_time_seconds")
    await engine.shutdown()
  }

  @Test func `instances whose names differ only in punctuation do not share a metric`() async throws {
    let path = BuiltProducts.library("swift-work")
    let engine = try Self.engine(#"{"plugins": {"a-b": {"library": "\#(path)"}, "a.b": {"library": "\#(path)"}}}"#)
    let names = engine.pluginMetrics.metrics.map(\.prometheusName)
    #expect(names.contains("a_b_handled_total") && names.contains("a_b_handled_total_2"))
    #expect(Set(names).count == names.count)
    await engine.shutdown()
  }

  @Test func `scheduled work is counted in the reports`() async throws {
    let engine = try Self.engine(
      """
      {"plugins": {"work": {"library": "\(BuiltProducts.library("swift-work"))", "config": {"schedules": [
         {"name": "take", "periodMs": 3600000, "deadlineMs": 1}]}}}}
      """)
    let text = engine.pluginMetrics.prometheusText()
    #expect(text.contains(#"sluice_scheduled_work_total{stage="work",name="take",outcome="new-data"} 0"#))
    #expect(text.contains(#"sluice_scheduled_work_left_out_total{stage="work",name="take"} 0"#))
    let schedule = try #require(engine.pluginMetrics.document()["schedules"]?.elements.first { _ in true })
    #expect(schedule["outcomes"]?["missed-deadline"] == 0 && schedule["leftOut"] == 0)
    await engine.shutdown()
  }
}
