import SluiceAssembly
import SluiceJSON

/// The canary of an engine as text.
struct CanaryText {
  private let document: JSONValue

  init(_ document: JSONValue) { self.document = document }

  var text: String {
    let history = document["history"].map { Array($0.elements) } ?? []
    guard let canary = document["canary"] else {
      guard let last = history.last else { return "no canary is running\n" }
      let probation = document["probation"].map { probation in
        "; the new build is on probation for \(ReportText.duration(probation["remainingMs"])) more"
      }
      return "no canary is running\(probation ?? ""); the last decision:\n" + Self.line(of: last)
    }
    let head = [Self.line(canary), "  " + ReportText.changes(canary), ""]
    let lines =
      head
      + (canary["shadow"].map { Self.shadow($0, canary) }
        ?? Self.arms(canary) + Self.histogram(canary) + Self.outlook(canary))
    let reports = history.map(Self.line(of:)).joined()
    return PrintableText.of(lines.map { "\($0)\n" }.joined()) + (reports.isEmpty ? "" : "\n" + reports)
  }

  private static func arms(_ canary: JSONValue) -> [String] {
    var table = TextTable("arm", "snapshot", "requests", "failed", "", "median", "99 %")
    for name in ["candidate", "control"] { table.append(row(name, canary[name])) }
    return table.lines + [""]
  }

  /// What the replays of the samples have shown.
  private static func shadow(_ shadow: JSONValue, _ canary: JSONValue) -> [String] {
    var table = TextTable("samples", "")
    for key in ["same", "different", "notCompared", "waiting", "dropped"] {
      table.append([key == "notCompared" ? "not compared" : key, count(shadow[key])])
    }
    var lines = table.lines + [""] + (shadow["findings"].map { $0.elements.compactMap(\.string) } ?? [])
    func number(_ key: String) -> Int64 { shadow[key]?.integer ?? 0 }
    let (compared, left) = (number("same") + number("different"), number("notCompared"))
    if (canary["ageMs"]?.number ?? 0) >= (canary["holdMs"]?.number ?? 0) {
      if left > compared { lines.append("held: more than half of the samples were not compared") }
      if compared + left == 0 { lines.append("held: there are no samples") }
    }
    let ignored = shadow["ignored"].map { $0.elements.compactMap(\.string) } ?? []
    if !ignored.isEmpty { lines.append("ignored differences: \(ignored.joined(separator: ", "))") }
    let (limit, share) = (number("differences") + 1, Figures.percent(shadow["percent"]?.number ?? 0))
    lines.append(
      "\(share) % of the new requests are sampled; \(Figures.count(limit)) or more different samples would end the canary"
    )
    return lines
  }

  /// `canary: snapshot 2 serves 10 %, step 2 of 3, for 1.20 s of 120 s`
  static func line(_ canary: JSONValue) -> String {
    let steps = canary["steps"]?.count ?? 0
    let step = canary["shadow"] == nil ? ", step \(count(canary["step"])) of \(steps)" : ""
    let age = canary["ageMs"].map { ", for \(ReportText.duration($0)) of \(ReportText.duration(canary["holdMs"]))" }
    let share = SwapReport.Canary.words(canary["percent"]?.number ?? 0)
    return "canary: snapshot \(count(canary["candidate"]?["snapshot"])) \(share)\(step)\(age ?? "")"
  }

  private static func row(_ name: String, _ arm: JSONValue?) -> [String] {
    let bounds = arm?["failedPercent"].map { $0.elements.compactMap(\.number) } ?? []
    let interval = bounds.count == 2 ? "\(Figures.digits(bounds[0])) to \(Figures.digits(bounds[1])) %" : ""
    let latency = ["p50Ms", "p99Ms"].map { key in arm?[key].map { ReportText.duration($0) } ?? "-" }
    return [name, count(arm?["snapshot"]), count(arm?["transactions"]), count(arm?["failed"]), interval] + latency
  }

  private static let blocks = Array("▁▂▃▄▅▆▇█")
  private static let mostColumns = 64

  /// The latencies of both arms, each as a share of the most frequent one of its arm.
  private static func histogram(_ canary: JSONValue) -> [String] {
    guard let latencies = canary["latencies"], let bounds = latencies["fromMs"], bounds.count > 0 else { return [] }
    // Neighbours are added up, so that a line fits on the screen.
    let width = (bounds.count + mostColumns - 1) / mostColumns
    let columns = stride(from: 0, to: bounds.count, by: width)
    let (from, last) = (ReportText.duration(bounds[0]), ReportText.duration(bounds[Array(columns).last ?? 0]))
    let space = max(columns.underestimatedCount - from.count - last.count, 2)
    var table = TextTable("latency", from + String(repeating: " ", count: space) + last, trailing: 1)
    for name in ["candidate", "control"] {
      let counts = latencies[name].map { $0.elements.map { min(max($0.number ?? 0, 0), 1e15) } } ?? []
      var sums = columns.map { start in counts.dropFirst(start).prefix(width).reduce(0, +) }
      while sums.last == 0 { sums.removeLast() }
      let most = max(sums.max() ?? 0, 1)
      let bars = sums.map { sum in
        sum > 0 ? blocks[Int((sum / most * Double(blocks.count - 1)).rounded())] : Character(" ")
      }
      table.append([name, String(bars)])
    }
    return table.lines + [""]
  }

  /// What the canary waits for, and what happens then.
  private static func outlook(_ canary: JSONValue) -> [String] {
    let (had, needed) = (canary["candidate"]?["transactions"]?.integer ?? 0, canary["transactions"]?.integer ?? 0)
    let isOver = (canary["ageMs"]?.number ?? 0) >= (canary["holdMs"]?.number ?? 0)
    var lines: [String] = []
    if isOver, had < needed, canary["onSilence"]?.string == "hold" {
      lines.append(
        "held: the candidate has had \(Figures.count(had)) of the \(Figures.count(needed)) requests of a step")
    }
    let limit = canary["failedLimit"].map { "; \(count($0)) or more failed requests would end the canary" } ?? ""
    lines.append(
      canary["nextLook"].map { "the arms are compared next at \(count($0)) requests of the candidate\(limit)" }
        ?? "the arms are not compared again in this step")
    if canary["latency"]?.bool == true, needed < Int64(CanaryRule.firstLatencyLook) {
      lines.append(
        "latencies are compared from \(Figures.count(CanaryRule.firstLatencyLook)) requests of the candidate on; "
          + "a step can end after \(Figures.count(needed))")
    }
    return lines
  }

  private static func line(of report: JSONValue) -> String {
    let reason = report["reason"]?.string.map { ": \($0)" } ?? ""
    return PrintableText.of("\(report["at"]?.string ?? "?")  \(ReportText.line(report))\(reason)") + "\n"
  }

  private static func count(_ value: JSONValue?) -> String { value?.integer.map { Figures.count($0) } ?? "?" }
}
