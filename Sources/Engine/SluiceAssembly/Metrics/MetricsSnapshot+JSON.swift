package import SluiceJSON
import SluicePipeline

extension MetricsSnapshot {
  /// Times are seconds.
  package func document() -> JSONValue {
    let statuses = JSONValue.object()
    for status in StatusClass.allCases where self[status] > 0 { statuses[status.text] = Self.number(self[status]) }
    return [
      "transactions": outcomesDocument(), "statuses": statuses, "duration": duration.document(),
      "attempts": Self.number(attempts),
      "retries": Self.number(retries), "retriesOverBudget": Self.number(retriesOverBudget),
      "redirects": Self.number(redirects), "hops": Self.number(hops),
      "bytesSent": Self.number(bytesSent),
      "bytesReceived": Self.number(bytesReceived), "stages": .array(of: stages.map(Self.member)),
      "tracers": .array(of: tracers.map(Self.member)),
    ]
  }

  /// How many transactions began and ended.
  func outcomesDocument() -> JSONValue {
    [
      "begun": Self.number(begun), "inFlight": Self.number(inFlight), "succeeded": Self.number(self[.succeeded]),
      "failed": Self.number(self[.failed]), "cancelled": Self.number(self[.cancelled]),
    ]
  }

  private static func member(_ stage: StageSnapshot) -> JSONValue {
    [
      "phase": JSONValue("\(stage.phase)"), "name": JSONValue(stage.name), "time": stage.time.document(),
      "faults": number(stage.faults), "timeouts": number(stage.timeouts), "skips": number(stage.skips),
    ]
  }

  private static func member(_ tracer: TracerSnapshot) -> JSONValue {
    [
      "name": JSONValue(tracer.name), "time": tracer.time.document(), "overruns": number(tracer.overruns),
      "drops": number(tracer.drops),
    ]
  }

  private static func number(_ count: UInt64) -> JSONValue { JSONValue(Int64(clamping: count)) }
}

extension LatencySnapshot {
  /// The count, and quantiles in seconds.
  func document() -> JSONValue {
    func seconds(_ nanoseconds: UInt64) -> JSONValue { JSONValue(Double(nanoseconds) / 1e9) }
    return [
      "count": JSONValue(Int64(clamping: count)), "mean": seconds(mean), "p50": seconds(p50), "p90": seconds(p90),
      "p99": seconds(p99), "p999": seconds(p999), "max": seconds(maximum),
    ]
  }
}
