public import SluiceJSON
import SluiceMessages
import SluicePipeline

extension PluginMetricsReport {
  /// The report as a JSON document. docs/metrics.md describes its members.
  public func document() -> JSONValue {
    ["metrics": .array(of: metrics.map(Self.member)), "schedules": .array(of: schedules.map(Self.member))]
  }

  private static func member(_ metric: Metric) -> JSONValue {
    let member: JSONValue = [
      "stage": JSONValue(metric.stage), "name": JSONValue(metric.name), "kind": JSONValue(metric.kind.rawValue),
      "description": JSONValue(metric.description), "unit": JSONValue(metric.unit),
      "series": .array(of: metric.series.map { series($0, of: metric) }),
    ]
    if metric.kind == .histogram { member["bounds"] = .array(of: metric.bounds.map { JSONValue($0) }) }
    return member
  }

  private static func series(_ series: Series, of metric: Metric) -> JSONValue {
    let labels = JSONValue.object()
    for (name, value) in zip(metric.labelNames, series.labels) { labels[name] = JSONValue(value) }
    guard metric.kind == .histogram else { return ["labels": labels, "value": JSONValue(series.value)] }
    return [
      "labels": labels, "count": number(Int(clamping: series.count)), "sum": JSONValue(series.value),
      "counts": .array(of: series.counts.map { number(Int(clamping: $0)) }),
    ]
  }

  private static func member(_ schedule: ScheduleReport) -> JSONValue {
    let outcomes = JSONValue.object()
    for outcome in WorkOutcome.allCases { outcomes[outcome.rawValue] = number(schedule[outcome]) }
    let member: JSONValue = [
      "stage": JSONValue(schedule.stage), "name": JSONValue(schedule.name), "outcomes": outcomes,
      "leftOut": number(schedule.leftOut),
    ]
    if let last = schedule.lastOutcome { member["last"] = JSONValue(last.rawValue) }
    return member
  }

  private static func number(_ count: Int) -> JSONValue { JSONValue(Int64(clamping: count)) }
}
