import SluiceJSON
import SluicePipeline

extension BenchReport {
  /// The report as JSON; times are in seconds.
  var document: JSONValue {
    let document: JSONValue = [
      "method": JSONValue(method), "url": JSONValue(url), "requests": JSONValue(Int64(plan.requests)),
      "connections": JSONValue(Int64(plan.connections)), "rounds": JSONValue(Int64(rounds)),
      "isWhole": JSONValue(rounds == plan.rounds),
    ]
    if let pipeline { document["pipeline"] = Self.document(of: pipeline) }
    if let bare { document["withoutStages"] = Self.document(of: bare) }
    if let cost { document["cost"] = ["processorTime": Self.document(of: cost)] }
    document["stages"] = .array(of: metrics.stages.filter { $0.calls > 0 }.map(Self.document))
    document["tracers"] = .array(of: metrics.tracers.filter { $0.events > 0 }.map(Self.document))
    return document
  }

  private static func document(of side: Side) -> JSONValue {
    [
      "requestsPerSecond": document(of: side.requestsPerSecond), "processorTime": document(of: side.processorTime),
      "duration": document(of: side.latency),
    ]
  }

  private static func document(of spread: BenchSpread) -> JSONValue {
    ["median": JSONValue(spread.median), "lowest": JSONValue(spread.lowest), "highest": JSONValue(spread.highest)]
  }

  private static func document(of latency: LatencySnapshot) -> JSONValue {
    func seconds(_ nanoseconds: UInt64) -> JSONValue { JSONValue(Double(nanoseconds) / 1e9) }
    return [
      "p50": seconds(latency.p50), "p90": seconds(latency.p90), "p99": seconds(latency.p99),
      "max": seconds(latency.maximum),
    ]
  }

  private static func document(of stage: StageSnapshot) -> JSONValue {
    [
      "phase": JSONValue("\(stage.phase)"), "name": JSONValue(stage.name),
      "calls": JSONValue(Int64(clamping: stage.calls)), "time": document(of: stage.time),
    ]
  }

  private static func document(of tracer: TracerSnapshot) -> JSONValue {
    [
      "name": JSONValue(tracer.name), "events": JSONValue(Int64(clamping: tracer.events)),
      "time": document(of: tracer.time),
    ]
  }
}
