import OTLPRules
import SluiceMessages
import SluicePlugin

/// The metrics in the report of the host: the engine's counts, and the metrics that plugins record.
struct EngineReport {
  let metrics: [ReportedMetric]

  /// - Parameter document: the document of `sluice.reports/1`. Metrics that are missing or have another form are left
  ///   out.
  init(_ document: JSONValue) {
    var metrics: [ReportedMetric] = []
    if let engine = document["engine"] { metrics += Self.metrics(ofEngine: engine) }
    metrics += document["plugins"]?["metrics"]?.elements.compactMap { Self.metric(ofPlugin: $0) } ?? []
    self.metrics = metrics
  }

  private static func metrics(ofEngine engine: JSONValue) -> [ReportedMetric] {
    let transactions = engine["transactions"]
    let outcomes = ["succeeded", "failed", "cancelled"].compactMap { name in
      transactions?[name]?.number.map { ReportedMetric.Point([Attribute("sluice.outcome", name)], $0) }
    }
    var metrics = [
      ReportedMetric("sluice.transactions", "Transactions that have ended.", unit: "{transaction}", .counter, outcomes)
    ]
    if let active = transactions?["inFlight"]?.number {
      metrics.append(
        ReportedMetric(
          "http.client.active_requests", "Number of active HTTP requests.", unit: "{request}", .upDownCounter,
          [ReportedMetric.Point([], active)]))
    }
    for (key, name, description, unit) in [
      ("attempts", "sluice.attempts", "Attempts of transactions.", "{attempt}"),
      ("hops", "sluice.hops", "Requests on the wire.", "{request}"),
      ("retries", "sluice.retries", "Decisions to send again.", "{retry}"),
      ("redirects", "sluice.redirects", "Redirects that were followed.", "{redirect}"),
      ("bytesSent", "sluice.bytes.sent", "Bytes that were sent.", "By"),
      ("bytesReceived", "sluice.bytes.received", "Bytes that were received.", "By"),
    ] {
      guard let count = engine[key]?.number else { continue }
      metrics.append(ReportedMetric(name, description, unit: unit, .counter, [ReportedMetric.Point([], count)]))
    }
    return metrics.filter { !$0.points.isEmpty }
  }

  private static func metric(ofPlugin metric: JSONValue) -> ReportedMetric? {
    guard let stage = metric["stage"]?.string, let name = metric["name"]?.string,
      let series = metric["series"]?.elements
    else { return nil }
    let kind: ReportedMetric.Kind
    switch metric["kind"]?.string {
    case "counter": kind = .counter
    case "gauge": kind = .gauge
    case "histogram": kind = .histogram(bounds: metric["bounds"]?.elements.compactMap(\.number) ?? [])
    default: return nil
    }
    let points = series.compactMap { point(of: $0, kind) }
    guard !points.isEmpty else { return nil }
    return ReportedMetric(
      "\(stage).\(name)", metric["description"]?.string ?? "", unit: metric["unit"]?.string ?? "", kind, points)
  }

  private static func point(of series: JSONValue, _ kind: ReportedMetric.Kind) -> ReportedMetric.Point? {
    let attributes =
      series["labels"]?.members.compactMap { name, value in value.string.map { Attribute(name, $0) } } ?? []
    guard case .histogram(let bounds) = kind else {
      return series["value"]?.number.map { ReportedMetric.Point(attributes, $0) }
    }
    let counts = series["counts"]?.elements.compactMap { $0.integer.map { UInt64(clamping: $0) } } ?? []
    guard counts.count == bounds.count + 1, let sum = series["sum"]?.number else { return nil }
    return ReportedMetric.Point(attributes, sum, counts: counts)
  }
}
