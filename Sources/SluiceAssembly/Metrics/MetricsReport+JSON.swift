public import SluiceJSON
import SluiceMetrics

extension MetricsReport {
  /// The report as a JSON document; times are seconds. docs/metrics.md describes its members.
  public func document() -> JSONValue {
    let document: JSONValue = [
      "transactions": [
        "begun": Self.number(begun), "inFlight": Self.number(inFlight), "succeeded": Self.number(self[.succeeded]),
        "failed": Self.number(self[.failed]), "cancelled": Self.number(self[.cancelled]),
      ],
      "hops": Self.number(hops), "retries": Self.number(retries), "redirects": Self.number(redirects),
      "retriesOverBudget": Self.number(retriesOverBudget),
      "bytesSent": Self.number(bytesSent), "bytesReceived": Self.number(bytesReceived),
      "duration": duration.document(), "timeToHead": timeToHead.document(),
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
