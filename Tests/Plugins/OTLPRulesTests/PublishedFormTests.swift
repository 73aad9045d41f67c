import OTLPRules
import SluiceJSON
import SluiceMessages
import Testing

/// The form of the exported JSON, compared with the examples that OpenTelemetry publishes: `examples/trace.json` and
/// `examples/metrics.json` of the repository `open-telemetry/opentelemetry-proto`.
///
/// The lists of keys below come from these examples. The types and the optional keys come from the section "JSON
/// Protobuf Encoding" of the OTLP specification. A key that is neither in an example nor in the protocol is wrong.
@Suite struct PublishedFormTests {
  /// The form that a JSON value must have.
  private indirect enum Form: Sendable {
    case text
    case flag
    /// A number that fits into 32 bits, or an enumeration.
    case number
    /// A double.
    case real
    /// A 64-bit integer: decimal digits in a string, or a number.
    case wide
    /// A string of this many hexadecimal digits. The specification allows both cases; the export uses lower case.
    case hexadecimal(Int)
    case list(Form)
    /// An object with exactly one member, which is one of these.
    case oneOf([String: Form])
    case object([String: Form], optional: [String: Form] = [:])
  }

  private static let value = Form.oneOf([
    "stringValue": .text, "intValue": .wide, "doubleValue": .real, "boolValue": .flag,
  ])
  private static let attributes = Form.list(.object(["key": .text, "value": value]))
  private static let resource = Form.object(["attributes": attributes], optional: ["droppedAttributesCount": .number])
  private static let scope = Form.object(["name": .text, "version": .text], optional: ["attributes": attributes])

  private static let span = Form.object(
    [
      "traceId": .hexadecimal(32), "spanId": .hexadecimal(16), "name": .text, "kind": .number,
      "startTimeUnixNano": .wide, "endTimeUnixNano": .wide, "attributes": attributes,
    ],
    optional: [
      "parentSpanId": .hexadecimal(16), "traceState": .text, "flags": .number, "droppedAttributesCount": .number,
      "status": .object([:], optional: ["code": .number, "message": .text]),
    ])
  private static let traces = Form.object([
    "resourceSpans": .list(
      .object(["resource": resource, "scopeSpans": .list(.object(["scope": scope, "spans": .list(span)]))]))
  ])

  private static let numberPoints = Form.list(
    .object(
      ["attributes": attributes, "timeUnixNano": .wide, "asDouble": .real], optional: ["startTimeUnixNano": .wide]))
  private static let histogramPoints = Form.list(
    .object(
      [
        "attributes": attributes, "startTimeUnixNano": .wide, "timeUnixNano": .wide, "count": .wide, "sum": .real,
        "bucketCounts": .list(.wide), "explicitBounds": .list(.real),
      ], optional: ["min": .real, "max": .real]))
  private static let metric = Form.object(
    ["name": .text],
    optional: [
      "description": .text, "unit": .text,
      "sum": .object(["aggregationTemporality": .number, "isMonotonic": .flag, "dataPoints": numberPoints]),
      "gauge": .object(["dataPoints": numberPoints]),
      "histogram": .object(["aggregationTemporality": .number, "dataPoints": histogramPoints]),
    ])
  private static let metrics = Form.object([
    "resourceMetrics": .list(
      .object(["resource": resource, "scopeMetrics": .list(.object(["scope": scope, "metrics": .list(metric)]))]))
  ])

  /// The differences between the value and the form, each with its path.
  private static func differences(_ value: JSONValue, _ form: Form, at path: String = "") -> [String] {
    func unless(_ isRight: Bool, _ expected: String) -> [String] {
      isRight ? [] : ["\(path): \(value.kind), expected \(expected)"]
    }
    switch form {
    case .text: return unless(value.isString, "a string")
    case .flag: return unless(value.kind == .boolean, "a boolean")
    case .number: return unless(value.integer.flatMap { Int32(exactly: $0) } != nil, "a number of 32 bits")
    case .real: return unless(value.number != nil, "a number")
    case .wide:
      let isDecimal = value.string.map { Int64($0) != nil || UInt64($0) != nil }
      return unless(isDecimal ?? (value.integer != nil), "a 64-bit integer")
    case .hexadecimal(let count):
      let isRight =
        value.string?.utf8.count == count && value.string?.allSatisfy { "0123456789abcdef".contains($0) } == true
      return unless(isRight, "\(count) hexadecimal digits in lower case")
    case .list(let element):
      guard value.isArray else { return unless(false, "an array") }
      return value.elements.enumerated().flatMap { differences($0.element, element, at: "\(path)[\($0.offset)]") }
    case .oneOf(let members):
      guard value.isObject, value.count == 1 else { return unless(false, "an object with one member") }
      return differences(value, .object([:], optional: members), at: path)
    case .object(let required, let optional):
      guard value.isObject else { return unless(false, "an object") }
      let missing = required.keys.sorted().filter { value[$0] == nil }.map { "\(path).\($0): missing" }
      return missing
        + value.members.flatMap { key, member in
          (required[key] ?? optional[key]).map { differences(member, $0, at: "\(path).\(key)") } ?? [
            "\(path).\(key): not in the protocol"
          ]
        }
    }
  }

  private let document = ExportDocument(
    resource: [Attribute("service.name", "shop")], scopeName: "sluice.otlp", scopeVersion: "1.0.0")

  /// Two spans: one with all members that a span can have, and one with only the required members.
  private static let spans: [ExportedSpan] = {
    var full = ExportedSpan(
      traceID: "0af7651916cd43dd8448eb211c80319c", spanID: "b7ad6b7169203331", parentSpanID: "00f067aa0ba902b7",
      name: "GET", kind: .client, start: 1, end: .max,
      attributes: [
        Attribute("text", "a"), Attribute("integer", .integer(.min)), Attribute("number", .number(1)),
        Attribute("flag", .bool(false)),
      ], status: ExportedSpan.Status(code: .error, message: "refused"))
    full.droppedAttributes = 2
    var empty = full
    (empty.parentSpanID, empty.status, empty.attributes, empty.droppedAttributes) = (nil, .unset, [], 0)
    return [full, empty]
  }()

  @Test func `exported spans have the published form`() throws {
    let text = try JSONValue(parsing: document.traces(Self.spans), options: .rejectDuplicates)
    #expect(Self.differences(text, Self.traces) == [])
  }

  @Test func `exported metrics of every kind have the published form`() throws {
    var table = MetricTable()
    table.record(.request, [Attribute("http.request.method", "GET")], seconds: 1)
    let labels = [Attribute("kind", "a")]
    let reported = [
      ReportedMetric("hops", "Requests.", unit: "{request}", .counter, [.init(labels, 3)]),
      ReportedMetric("active", "", unit: "", .upDownCounter, [.init([], -2)]),
      ReportedMetric("depth", "", unit: "", .gauge, [.init(labels, 0.5)]),
      ReportedMetric("wait", "", unit: "s", .histogram(bounds: [1]), [.init(labels, 4.5, counts: [1, 2])]),
    ]
    let bytes = document.metrics(table, from: 1, at: .max, reported, since: 1)
    let text = try JSONValue(parsing: bytes, options: .rejectDuplicates)
    #expect(Self.differences(text, Self.metrics) == [])
  }

  @Test(arguments: [
    (
      #"{"traceId": "0AF7651916CD43DD8448EB211C80319C"}"#,
      ".traceId: string, expected 32 hexadecimal digits in lower case"
    ),
    (#"{"span_id": "b7ad6b7169203331"}"#, ".span_id: not in the protocol"),
    (#"{"kind": "SPAN_KIND_CLIENT"}"#, ".kind: string, expected a number of 32 bits"),
    (#"{"startTimeUnixNano": 1.5}"#, ".startTimeUnixNano: real, expected a 64-bit integer"),
    (
      #"{"attributes": [{"key": "a", "value": "b"}]}"#,
      ".attributes[0].value: string, expected an object with one member"
    ),
    (#"{"attributes": [{"key": "a"}]}"#, ".attributes[0].value: missing"),
    (#"{}"#, ".name: missing"),
  ])
  func `the comparison reports what differs`(_ text: String, _ difference: String) throws {
    #expect(Self.differences(try JSONValue(parsing: text), Self.span).contains(difference))
  }
}
