import SluiceAssembly
import SluiceJSON
import SluiceMessages

/// The metrics of an engine as tables.
struct MetricsText {
  private let engine: JSONValue
  private let plugins: JSONValue
  private let process: JSONValue

  init(_ document: JSONValue) {
    engine = document["engine"] ?? .object()
    plugins = document["plugins"] ?? .object()
    process = document["process"] ?? .object()
  }

  var text: String {
    let sections = [counts, latency, usage, stages, pluginMetrics, schedules].filter { !$0.isEmpty }
    return PrintableText.of(sections.map { $0.map { "\($0)\n" }.joined() }.joined(separator: "\n"))
  }

  private var counts: [String] {
    let transactions = engine["transactions"]
    var table = TextTable("engine", "count")
    for (name, key) in [
      ("begun", "begun"), ("in flight", "inFlight"), ("succeeded", "succeeded"), ("failed", "failed"),
      ("cancelled", "cancelled"),
    ] { table.append([name, count(transactions?[key])]) }
    for (name, key) in [
      ("attempts", "attempts"), ("retries", "retries"), ("retries over budget", "retriesOverBudget"),
      ("redirects", "redirects"), ("hops", "hops"), ("bytes sent", "bytesSent"),
      ("bytes received", "bytesReceived"),
    ] { table.append([name, count(engine[key])]) }
    if let statuses = engine["statuses"] {
      for (status, value) in statuses.members {
        table.append([status == "none" ? "no response" : "status \(status)", count(value)])
      }
    }
    return table.lines
  }

  /// The memory and descriptors of the process; empty if the engine is too old to report them.
  private var usage: [String] {
    var table = TextTable("process", "now")
    if let bytes = process["residentBytes"]?.integer {
      table.append(["resident memory", "\(Figures.count(bytes >> 20)) MiB"])
    }
    if let open = process["openDescriptors"]?.integer {
      let limit = process["maxDescriptors"]?.integer.map { " of \(Figures.count($0))" } ?? ""
      table.append(["descriptors", Figures.count(open) + limit])
    }
    return table.isEmpty ? [] : table.lines
  }

  private var latency: [String] {
    guard let duration = engine["duration"], duration["count"]?.integer ?? 0 > 0 else { return [] }
    var table = TextTable("latency", "p50", "p90", "p99", "max")
    table.append(["whole request"] + ["p50", "p90", "p99", "max"].map { seconds(duration[$0]) })
    return table.lines
  }

  private var stages: [String] {
    var table = TextTable("stage", "calls", "p50", "p99", "max", "faults")
    for stage in elements(engine["stages"]) {
      let faults = (stage["faults"]?.integer ?? 0) &+ (stage["timeouts"]?.integer ?? 0)
      table.append(
        ["\(stage["phase"]?.string ?? "?") \(stage["name"]?.string ?? "?")"] + times(stage["time"])
          + [Figures.count(faults)])
    }
    for tracer in elements(engine["tracers"]) {
      let missed = (tracer["overruns"]?.integer ?? 0) &+ (tracer["drops"]?.integer ?? 0)
      table.append(["tracer \(tracer["name"]?.string ?? "?")"] + times(tracer["time"]) + [Figures.count(missed)])
    }
    return table.isEmpty ? [] : table.lines
  }

  private var pluginMetrics: [String] {
    var table = TextTable("plugin metric", "value")
    for metric in elements(plugins["metrics"]) {
      let name = "\(metric["stage"]?.string ?? "?") \(metric["name"]?.string ?? "?")"
      let unit = metric["unit"]?.string ?? ""
      for series in elements(metric["series"]) {
        let labels =
          series["labels"].map { $0.members.map { "\($0.key)=\(PlainText.line($0.value.string ?? ""))" } } ?? []
        let value = series["value"]?.number ?? series["sum"]?.number ?? 0
        let number = value == value.rounded() && abs(value) < 1e15 ? Figures.count(Int(value)) : "\(value)"
        let count = series["count"]?.integer.map { " in \(Figures.count($0))" } ?? ""
        table.append([
          name + (labels.isEmpty ? "" : " {\(labels.joined(separator: ", "))}"),
          number + (unit.isEmpty || unit == "1" ? "" : " \(unit)") + count,
        ])
      }
    }
    return table.isEmpty ? [] : table.lines
  }

  private var schedules: [String] {
    let outcomes = ["new-data", "no-data", "failed", "missed-deadline"]
    var table = TextTable("scheduled work", "new data", "no data", "failed", "missed", "left out")
    for schedule in elements(plugins["schedules"]) {
      table.append(
        ["\(schedule["stage"]?.string ?? "?") \(schedule["name"]?.string ?? "?")"]
          + outcomes.map { count(schedule["outcomes"]?[$0]) } + [count(schedule["leftOut"])])
    }
    return table.isEmpty ? [] : table.lines
  }

  private func times(_ time: JSONValue?) -> [String] {
    [count(time?["count"])] + ["p50", "p99", "max"].map { seconds(time?[$0]) }
  }

  private func elements(_ value: JSONValue?) -> [JSONValue] { value.map { Array($0.elements) } ?? [] }

  private func count(_ value: JSONValue?) -> String { Figures.count(value?.integer ?? 0) }

  private func seconds(_ value: JSONValue?) -> String {
    Figures.time(nanoseconds: UInt64(min(max(0, value?.number ?? 0), 1e9) * 1e9))
  }
}
