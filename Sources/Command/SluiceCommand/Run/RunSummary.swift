import Sluice
import SluiceAssembly
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The tables at the end of a run.
struct RunSummary {
  private let counts: RunCounts
  private let metrics: MetricsSnapshot
  private let schedules: [ScheduleReport]
  private let duration: Duration

  init(_ counts: RunCounts, _ metrics: MetricsSnapshot, _ schedules: [ScheduleReport], duration: Duration) {
    self.counts = counts
    self.metrics = metrics
    self.schedules = schedules
    self.duration = duration
  }

  /// Writes the summary to standard error, as text or JSON like the messages.
  func show(isWhole: Bool) {
    switch LogOutput.format {
    case .text: StandardError.write(text(isWhole: isWhole))
    case .json:
      let line = LogLine(level: .info, message: headline(isWhole: isWhole))
      let document = LogOutput.document(of: line, at: UniversalTime.now)
      let run: JSONValue = [
        "requests": JSONValue(Int64(counts.completed)), "failed": JSONValue(Int64(counts.failed)),
        "invalid": JSONValue(Int64(counts.invalid)), "notBegun": JSONValue(Int64(counts.dropped)),
        "kept": JSONValue(Int64(counts.kept)), "keptFailed": JSONValue(Int64(counts.keptFailed)),
        "durationMs": .milliseconds(duration), "isWhole": JSONValue(isWhole),
      ]
      if !metrics.duration.isEmpty { run["latency"] = Self.latency(metrics.duration) }
      document["run"] = run
      LogOutput.write(document)
    }
  }

  private static func latency(_ latency: LatencySnapshot) -> JSONValue {
    let times = [("p50Ms", latency.p50), ("p90Ms", latency.p90), ("p99Ms", latency.p99), ("maxMs", latency.maximum)]
    let document = JSONValue.object()
    for (name, time) in times { document[name] = .milliseconds(.nanoseconds(Int64(clamping: time))) }
    return document
  }

  func text(isWhole: Bool) -> String {
    let stages = StageTimes.lines(of: metrics)
    let sections = [[headline(isWhole: isWhole)], statuses, latency, stages, scheduledWork].filter { !$0.isEmpty }
    return sections.map { $0.map { "\($0)\n" }.joined() }.joined(separator: "\n")
  }

  private func headline(isWhole: Bool) -> String {
    let seconds = max(duration.inSeconds, 1e-9)
    let rate = Figures.count(Int((Double(counts.completed) / seconds).rounded()))
    var parts = [
      "\(Figures.count(counts.completed)) \(counts.completed == 1 ? "request" : "requests") in "
        + "\(Figures.time(nanoseconds: UInt64(seconds * 1e9))), \(rate)/s",
      "\(Figures.count(counts.failed)) failed",
    ]
    if counts.invalid > 0 { parts.append("\(Figures.count(counts.invalid)) of them not valid request lines") }
    if !isWhole { parts.append("interrupted") }
    if counts.dropped > 0 {
      parts.append("\(Figures.count(counts.dropped)) \(counts.dropped == 1 ? "line" : "lines") read but not sent")
    }
    if counts.kept > 0 {
      let failed = counts.keptFailed > 0 ? " (\(Figures.count(counts.keptFailed)) failed)" : ""
      parts.append("\(Figures.count(counts.kept)) \(counts.kept == 1 ? "result" : "results") kept\(failed)")
    }
    return parts.joined(separator: ", ")
  }

  private var statuses: [String] {
    var table = TextTable("status", "count")
    for status in StatusClass.allCases where metrics[status] > 0 {
      table.append([status == .none ? "no response" : status.text, Figures.count(metrics[status])])
    }
    return table.isEmpty ? [] : table.lines
  }

  private var latency: [String] {
    guard !metrics.duration.isEmpty else { return [] }
    var table = TextTable("latency", "p50", "p90", "p99", "max")
    let all = metrics.duration
    table.append(["whole request"] + [all.p50, all.p90, all.p99, all.maximum].map { Figures.time(nanoseconds: $0) })
    return table.lines
  }

  private var scheduledWork: [String] {
    var table = TextTable("scheduled work", "new data", "no data", "failed", "missed", "left out")
    for schedule in schedules {
      let outcomes = [WorkOutcome.newData, .noData, .failed, .missedDeadline].map { Figures.count(schedule[$0]) }
      table.append(["\(schedule.stage) \(schedule.name)"] + outcomes + [Figures.count(schedule.leftOut)])
    }
    return table.isEmpty ? [] : table.lines
  }
}
