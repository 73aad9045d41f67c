public import SluiceJSON
import SluicePipeline

extension MetricsReport {
  /// The report as a JSON document; times are seconds. docs/metrics.md describes its members.
  public func document() -> JSONValue {
    let document: JSONValue = [
      "transactions": traffic.outcomesDocument(), "hops": Self.number(traffic.hops),
      "retries": Self.number(traffic.retries), "redirects": Self.number(traffic.redirects),
      "retriesOverBudget": Self.number(traffic.retriesOverBudget), "bytesSent": Self.number(traffic.bytesSent),
      "bytesReceived": Self.number(traffic.bytesReceived), "duration": traffic.duration.document(),
      "timeToHead": timeToHead.document(),
      "bounds": .array(of: DurationCounts.bounds.map { JSONValue($0) }),
      "requests": .array(of: series.map { Self.member($0) }),
    ]
    for (key, value) in plugins.document().members { document[key] = value }
    return document
  }

  private static func member(_ series: Series) -> JSONValue {
    [
      "method": JSONValue(series.method.text), "status": JSONValue(series.status.text),
      "count": number(series.durations.count), "sum": seconds(series.durations.sumNanoseconds),
      "counts": .array(of: series.durations.counts.map { number($0) }),
    ]
  }

  private static func number(_ count: UInt64) -> JSONValue { JSONValue(Int64(clamping: count)) }

  private static func seconds(_ nanoseconds: UInt64) -> JSONValue { JSONValue(Double(nanoseconds) / 1e9) }
}
