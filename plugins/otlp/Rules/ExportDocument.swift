import SluiceJSON
package import SluiceMessages

/// The requests of OTLP/HTTP in JSON (OTLP specification, "JSON Protobuf Encoding"): ids in hexadecimal, enumerations as
/// numbers, names in lower camel case, 64-bit integers as strings.
package struct ExportDocument: Sendable {
  private let resource: [Attribute]
  private let scopeName: String
  private let scopeVersion: String

  /// - Parameters:
  ///   - resource: the attributes of the program that produces the telemetry.
  ///   - scopeName: the name of the instrumentation.
  package init(resource: [Attribute], scopeName: String, scopeVersion: String) {
    self.resource = resource
    self.scopeName = scopeName
    self.scopeVersion = scopeVersion
  }

  /// An `ExportTraceServiceRequest`.
  package func traces(_ spans: [ExportedSpan]) -> [UInt8] {
    request("resourceSpans", "scopeSpans") { scope in
      scope.array("spans") { for span in spans { Self.add(span, to: &$0) } }
    }
  }

  /// An `ExportMetricsServiceRequest`, with all points cumulative.
  ///
  /// - Parameters:
  ///   - reported: the metrics that the host has counted since `engineStart`.
  ///   - start: when counting began, in nanoseconds since 1970.
  ///   - now: the time that the points describe, in nanoseconds since 1970.
  package func metrics(
    _ table: MetricTable, from start: UInt64, at now: UInt64, _ reported: [ReportedMetric] = [],
    since engineStart: UInt64 = 0
  ) -> [UInt8] {
    request("resourceMetrics", "scopeMetrics") { scope in
      scope.array("metrics") { metrics in
        for (name, points) in table.metrics {
          metrics.object { metric in
            metric.text("name", name.rawValue)
            metric.text("description", name.description)
            metric.text("unit", "s")
            metric.object("histogram") { histogram in
              histogram.number("aggregationTemporality", Self.cumulative)
              histogram.array("dataPoints") { list in
                for (attributes, point) in points { Self.add(point, attributes, start, now, to: &list) }
              }
            }
          }
        }
        for metric in reported { metrics.object { Self.add(metric, engineStart, now, to: &$0) } }
      }
    }
  }

  private static let cumulative = 2

  private func request(_ resources: String, _ scopes: String, _ body: (inout JSONText) -> Void) -> [UInt8] {
    var text = JSONText()
    text.object { request in
      request.array(resources) { list in
        list.object { element in
          element.object("resource") { Self.add(resource, to: &$0) }
          element.array(scopes) { list in
            list.object { scope in
              scope.object("scope") {
                $0.text("name", scopeName)
                $0.text("version", scopeVersion)
              }
              body(&scope)
            }
          }
        }
      }
    }
    return text.bytes
  }

  private static func add(_ span: ExportedSpan, to list: inout JSONText) {
    list.object { text in
      text.text("traceId", span.traceID)
      text.text("spanId", span.spanID)
      if let parent = span.parentSpanID { text.text("parentSpanId", parent) }
      text.number("flags", Int(span.traceFlags))
      text.text("name", span.name)
      text.number("kind", span.kind.rawValue)
      text.wide("startTimeUnixNano", span.start)
      text.wide("endTimeUnixNano", span.end)
      add(span.attributes, to: &text)
      if span.droppedAttributes > 0 { text.number("droppedAttributesCount", span.droppedAttributes) }
      text.object("status") { status in
        if !span.status.message.isEmpty { status.text("message", span.status.message) }
        if span.status.code != .unset { status.number("code", span.status.code.rawValue) }
      }
    }
  }

  private static func add(
    _ point: DurationPoint, _ attributes: [Attribute], _ start: UInt64, _ now: UInt64, to list: inout JSONText
  ) {
    list.object { text in
      add(attributes, to: &text)
      text.wide("startTimeUnixNano", start)
      text.wide("timeUnixNano", now)
      text.wide("count", point.count)
      text.double("sum", point.sum)
      text.array("bucketCounts") { for count in point.counts { $0.wide(nil, count) } }
      text.array("explicitBounds") { for bound in DurationPoint.bounds { $0.double(nil, bound) } }
      text.double("min", point.minimum)
      text.double("max", point.maximum)
    }
  }

  private static func add(_ metric: ReportedMetric, _ start: UInt64, _ now: UInt64, to text: inout JSONText) {
    text.text("name", metric.name)
    if !metric.description.isEmpty { text.text("description", metric.description) }
    if !metric.unit.isEmpty { text.text("unit", metric.unit) }
    switch metric.kind {
    case .counter, .upDownCounter:
      text.object("sum") { sum in
        sum.number("aggregationTemporality", cumulative)
        sum.flag("isMonotonic", metric.kind == .counter)
        addNumbers(metric.points, start, now, to: &sum)
      }
    case .gauge: text.object("gauge") { addNumbers(metric.points, start, now, to: &$0) }
    case .histogram(let bounds):
      text.object("histogram") { histogram in
        histogram.number("aggregationTemporality", cumulative)
        histogram.array("dataPoints") { list in
          for point in metric.points {
            list.object { text in
              add(point.attributes, to: &text)
              text.wide("startTimeUnixNano", start)
              text.wide("timeUnixNano", now)
              text.wide("count", point.counts.reduce(0, &+))
              text.double("sum", point.value)
              text.array("bucketCounts") { for count in point.counts { $0.wide(nil, count) } }
              text.array("explicitBounds") { for bound in bounds { $0.double(nil, bound) } }
            }
          }
        }
      }
    }
  }

  private static func addNumbers(
    _ points: [ReportedMetric.Point], _ start: UInt64, _ now: UInt64, to text: inout JSONText
  ) {
    text.array("dataPoints") { list in
      for point in points {
        list.object { text in
          add(point.attributes, to: &text)
          text.wide("startTimeUnixNano", start)
          text.wide("timeUnixNano", now)
          text.double("asDouble", point.value)
        }
      }
    }
  }

  private static func add(_ attributes: [Attribute], to text: inout JSONText) {
    text.array("attributes") { list in
      for attribute in attributes {
        list.object { member in
          member.text("key", attribute.name)
          member.object("value") { add(attribute.shownValue, to: &$0) }
        }
      }
    }
  }

  private static func add(_ value: AttributeValue, to text: inout JSONText) {
    switch value {
    case .text(let value): text.text("stringValue", value)
    case .integer(let value): text.wide("intValue", value)
    case .number(let value): text.double("doubleValue", value)
    case .bool(let value): text.flag("boolValue", value)
    }
  }
}
