import OTLPRules
import SluiceJSON
import SluiceMessages
import Testing

/// The rules of OTLP's JSON form: names in lower camel case, ids as hexadecimal digits, enumerations as numbers, 64-bit
/// integers as strings.
@Suite struct ExportDocumentTests {
  private let document = ExportDocument(
    resource: [Attribute("service.name", "my.service")], scopeName: "my.scope", scopeVersion: "1.0.0")

  private static let span = ExportedSpan(
    traceID: "5b8efff798038103d269b633813fc60c", spanID: "eee19b7ec3c1b174", parentSpanID: "eee19b7ec3c1b173",
    name: "GET \"\\\n", kind: .client, start: 1_544_712_660_000_000_000, end: 1_544_712_661_000_000_000,
    attributes: [
      Attribute("text", "a"), Attribute("integer", .integer(.min)), Attribute("number", .number(0.5)),
      Attribute("flag", .bool(true)),
    ], status: ExportedSpan.Status(code: .error, message: "m"))

  /// The keys of the value and of all values inside it.
  private func keys(_ value: JSONValue) -> [String] {
    value.members.flatMap { [$0.key] + keys($0.value) } + value.elements.flatMap(keys)
  }

  @Test func `a span is nested in its scope and its resource`() throws {
    let text = try JSONValue(parsing: document.traces([Self.span, Self.span]), options: .rejectDuplicates)
    #expect(text.members.map(\.key) == ["resourceSpans"])
    let resource = try #require(text["resourceSpans"]?[0])
    #expect(resource["resource"] == ["attributes": [["key": "service.name", "value": ["stringValue": "my.service"]]]])
    let scope = try #require(resource["scopeSpans"]?[0])
    #expect(scope["scope"] == ["name": "my.scope", "version": "1.0.0"])
    #expect(scope["spans"]?.count == 2)
    let span = try #require(scope["spans"]?[0])
    #expect(span["traceId"] == "5b8efff798038103d269b633813fc60c" && span["spanId"] == "eee19b7ec3c1b174")
    #expect(span["parentSpanId"] == "eee19b7ec3c1b173" && span["name"] == "GET \"\\\n")
    #expect(span["kind"] == 3 && span["flags"] == 1)
    #expect(span["startTimeUnixNano"] == "1544712660000000000" && span["endTimeUnixNano"] == "1544712661000000000")
    #expect(span["status"] == ["code": 2, "message": "m"])
    #expect(
      span["attributes"] == [
        ["key": "text", "value": ["stringValue": "a"]],
        ["key": "integer", "value": ["intValue": "-9223372036854775808"]],
        ["key": "number", "value": ["doubleValue": 0.5]], ["key": "flag", "value": ["boolValue": true]],
      ])
  }

  @Test func `absent values are left out`() throws {
    var span = Self.span
    (span.parentSpanID, span.status, span.attributes) = (nil, .unset, [])
    let text = try JSONValue(parsing: document.traces([span]))
    let written = try #require(text["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"]?[0])
    #expect(written["parentSpanId"] == nil && written["droppedAttributesCount"] == nil)
    #expect(written["status"] == [:] && written["attributes"] == [])
    span.droppedAttributes = 3
    let dropped = try JSONValue(parsing: document.traces([span]))
    #expect(dropped["resourceSpans"]?[0]?["scopeSpans"]?[0]?["spans"]?[0]?["droppedAttributesCount"] == 3)
  }

  @Test func `names are in lower camel case`() throws {
    var table = MetricTable()
    table.record(.request, [], seconds: 1)
    for bytes in [document.traces([Self.span]), document.metrics(table, from: 1, at: 2)] {
      for key in keys(try JSONValue(parsing: bytes)) {
        #expect(key.first?.isLowercase == true && !key.contains("_"), "\(key)")
      }
    }
  }

  @Test func `a histogram is cumulative, has one more count than bounds, and has the right sum`() throws {
    var table = MetricTable()
    let attributes = [Attribute("http.request.method", "GET")]
    for seconds in [0.005, 0.0051, 0.3, 10, 11] { table.record(.request, attributes, seconds: seconds) }
    table.record(.transaction, [], seconds: 2)
    let text = try JSONValue(parsing: document.metrics(table, from: 5, at: 7), options: .rejectDuplicates)
    #expect(text["resourceMetrics"]?[0]?["resource"]?["attributes"]?.count == 1)
    let metrics = try #require(text["resourceMetrics"]?[0]?["scopeMetrics"]?[0]?["metrics"])
    #expect(
      metrics.elements.map { $0["name"]?.string } == ["http.client.request.duration", "sluice.transaction.duration"])
    let metric = try #require(metrics[0])
    #expect(metric["unit"] == "s" && metric["description"]?.string?.isEmpty == false)
    #expect(metric["histogram"]?["aggregationTemporality"] == 2)
    let point = try #require(metric["histogram"]?["dataPoints"]?[0])
    #expect(point["startTimeUnixNano"] == "5" && point["timeUnixNano"] == "7")
    #expect(point["count"] == "5" && point["min"]?.number == 0.005 && point["max"]?.number == 11)
    #expect(point["sum"]?.number.map { abs($0 - 21.3101) < 1e-9 } == true)
    let bounds = try #require(point["explicitBounds"]).elements.compactMap(\.number)
    #expect(bounds == [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10])
    let counts = try #require(point["bucketCounts"]).elements.compactMap { $0.string.flatMap { Int($0) } }
    #expect(counts == [1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1])
    #expect(point["attributes"] == [["key": "http.request.method", "value": ["stringValue": "GET"]]])
  }

  @Test func `the host's metrics are sums, gauges or histograms, as in OpenTelemetry's examples`() throws {
    let labels = [Attribute("kind", "a")]
    let reported = [
      ReportedMetric("hops", "Requests.", unit: "{request}", .counter, [.init([], 3)]),
      ReportedMetric("active", "", unit: "", .upDownCounter, [.init([], 2)]),
      ReportedMetric("depth", "", unit: "", .gauge, [.init(labels, 0.5)]),
      ReportedMetric("wait", "", unit: "s", .histogram(bounds: [1, 2]), [.init(labels, 4.5, counts: [1, 0, 2])]),
    ]
    let bytes = document.metrics(MetricTable(), from: 5, at: 7, reported, since: 4)
    let text = try JSONValue(parsing: bytes, options: .rejectDuplicates)
    let metrics = try #require(text["resourceMetrics"]?[0]?["scopeMetrics"]?[0]?["metrics"])
    func number(_ value: JSONValue, _ attributes: JSONValue) -> JSONValue {
      [["attributes": attributes, "startTimeUnixNano": "4", "timeUnixNano": "7", "asDouble": value]]
    }
    let kind: JSONValue = [["key": "kind", "value": ["stringValue": "a"]]]
    #expect(
      metrics[0] == [
        "name": "hops", "description": "Requests.", "unit": "{request}",
        "sum": ["aggregationTemporality": 2, "isMonotonic": true, "dataPoints": number(3.0, .array())],
      ])
    #expect(
      metrics[1]?["sum"]
        == ["aggregationTemporality": 2, "isMonotonic": false, "dataPoints": number(2.0, .array())])
    #expect(metrics[2]?["gauge"] == ["dataPoints": number(0.5, kind)])
    #expect(
      metrics[3]?["histogram"] == [
        "aggregationTemporality": 2,
        "dataPoints": [
          [
            "attributes": kind, "startTimeUnixNano": "4", "timeUnixNano": "7", "count": "3", "sum": 4.5,
            "bucketCounts": ["1", "0", "2"], "explicitBounds": [1.0, 2.0],
          ]
        ],
      ])
  }

  @Test func `series beyond the limit are counted together`() {
    var table = MetricTable(limit: 3)
    for number in Int64(0)..<5 { table.record(.request, [Attribute("n", .integer(number))], seconds: 1) }
    table.record(.request, [Attribute("n", .integer(0))], seconds: 1)
    let points = table.metrics.first?.points ?? []
    #expect(points.count == 3)
    #expect(points.first { $0.attributes.first?.name == "otel.metric.overflow" }?.point.count == 3)
    #expect(points.first { $0.attributes == [Attribute("n", .integer(0))] }?.point.count == 2)
  }
}
