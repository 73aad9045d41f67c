import SluiceAssembly
import SluiceJSON

/// The status of an engine as tables.
struct StatusText {
  private let status: JSONValue
  private let terminal: Terminal

  init(_ status: JSONValue, _ terminal: Terminal) {
    self.status = status
    self.terminal = terminal
  }

  var text: String {
    [PrintableText.of(head), updates, generations, history, PrintableText.of(refused)].filter { !$0.isEmpty }
      .joined(separator: "\n")
  }

  private func memory(_ budget: JSONValue?) -> String {
    guard let used = budget?["usedBytes"]?.integer, let limit = budget?["limitBytes"]?.integer else { return "" }
    return ", with at most \(Figures.bytes(Int(used))) of \(Figures.bytes(Int(limit)))"
  }

  private var head: String {
    let engine = status["engine"]
    let budget = status["budget"]
    var lines = [
      "sluice \(engine?["version"]?.string ?? "?"), process \(number(engine?["pid"]))"
        + ", since \(engine?["startedAt"]?.string ?? "?")",
      "snapshot \(number(status["snapshot"])), \(number(budget?["used"])) of \(number(budget?["limit"])) builds mapped"
        + memory(budget),
    ]
    if let canary = status["canary"] { lines.append(CanaryText.line(canary)) }
    if let probation = status["probation"] {
      lines.append(
        "on probation for \(ReportText.duration(probation["remainingMs"])) more, "
          + "\(number(probation["transactions"])) transactions so far; snapshot \(number(probation["standby"])) stands by"
      )
    }
    if let running = status["running"] {
      lines.append(
        "\(word(running["trigger"])) \(number(running["id"])) has been \(word(running["step"])) for "
          + ReportText.duration(running["ageMs"]))
    }
    if status["queued"]?.integer ?? 0 > 0 { lines.append("\(number(status["queued"])) swaps wait") }
    if let replaced = status["replaced"], replaced["waiting"]?.integer ?? 0 > 0 {
      lines.append(
        "\(number(replaced["waiting"])) replaced snapshots have not ended (limit \(number(replaced["limit"])))")
    }
    lines += list(status["waits"]).map(wait)
    for stall in list(status["stalls"]) {
      lines.append(
        "\(word(stall["plugin"])), generation \(number(stall["generation"])), has blocked loop "
          + "\(number(stall["loop"])) in \(word(stall["callback"])) for \(ReportText.duration(stall["ageMs"]))")
    }
    let silent = list(status["silentLoops"])
    if !silent.isEmpty {
      lines.append("loops that did not answer in time: number \(silent.map { number($0) }.joined(separator: ", "))")
    }
    return lines.map { "\($0)\n" }.joined()
  }

  /// A line with the loop that a swap or a drain waits for, and the call that the loop is in.
  private func wait(_ wait: JSONValue) -> String {
    let purpose = wait["for"]?.string == "drain" ? "the end of snapshot" : "snapshot"
    let start =
      "\(purpose) \(number(wait["snapshot"])) has been waiting for loop \(number(wait["loop"])) for "
      + "\(ReportText.duration(wait["ageMs"])): "
    let place = wait["callback"].map { callback in
      "in \(word(callback)) of \(word(wait["plugin"])), generation \(number(wait["generation"]))"
        + (wait["transaction"]?.string.map { ", transaction \($0)" } ?? "")
    }
    if wait["hasDied"]?.bool == true { return start + "its thread was ended" + (place.map { " \($0)" } ?? "") }
    return start + (place ?? "the loop is not in a call of a plugin")
  }

  private var updates: String {
    status["update"].map { "updates from channel \(UpdateText($0).text)" } ?? ""
  }

  private var generations: String {
    let generations = list(status["generations"])
    guard !generations.isEmpty else { return "" }
    var table = TextTable(
      "generation", "state", "plugins", "id", "version", "hash", "build id", "leases", "tokens", "work", "violations",
      leading: 7)
    for generation in generations {
      let work = ["completions", "timers", "openCalls"].reduce(0) { $0 &+ (generation[$1]?.integer ?? 0) }
      table.append([
        number(generation["id"]), generation["state"]?.string ?? "?",
        list(generation["plugins"]).compactMap(\.string).joined(separator: ","), word(generation["pluginId"]),
        word(generation["version"]), short(generation["hash"]), short(generation["buildId"]),
        number(generation["leases"]), number(generation["suspended"]), Figures.count(work),
        number(generation["violations"]),
      ])
    }
    let rows = table.lines
    var lines = [rows.first ?? ""]
    for (row, generation) in zip(rows.dropFirst(), generations) {
      lines.append(colored(row, generation["state"]?.string))
      lines += remarks(generation).map { PrintableText.of("  \($0)") }
    }
    return lines.map { "\($0)\n" }.joined()
  }

  /// Why the generation has ended, or which transactions keep it in use.
  private func remarks(_ generation: JSONValue) -> [String] {
    var remarks = generation["reason"]?.string.map { ["\(generation["state"]?.string ?? ""): \($0)"] } ?? []
    let state = generation["state"]?.string
    guard state != "active", state != "canary", state != "probation" || !list(generation["holders"]).isEmpty else {
      return remarks
    }
    for holder in list(generation["holders"]) {
      let stage = holder["suspendedIn"]?.string.map { ", suspended in \"\($0)\"" } ?? ""
      remarks.append(
        "held by \(holder["transaction"]?.string ?? "?") for \(ReportText.duration(holder["ageMs"]))\(stage)")
    }
    return remarks
  }

  private var history: String {
    let history = list(status["history"])
    guard !history.isEmpty else { return "" }
    var table = TextTable("swap", "time", "by", "outcome", "snapshot", "took", "what", leading: 4, trailing: 1)
    for report in history {
      table.append([
        number(report["id"]), word(report["at"]), word(report["trigger"]), word(report["outcome"]),
        number(report["snapshot"]), ReportText.duration(report["durationMs"]), ReportText.changes(report),
      ])
    }
    let rows = table.lines
    var lines = [rows.first ?? ""]
    for (row, report) in zip(rows.dropFirst(), history) {
      lines.append(colored(row, report["outcome"]?.string))
      if let reason = report["reason"]?.string { lines.append(PrintableText.of("  \(reason)")) }
    }
    return lines.map { "\($0)\n" }.joined()
  }

  private var refused: String {
    guard let refused = status["refused"], refused.count > 0 else { return "" }
    return "refused builds\n"
      + refused.members.map { "  \(short(JSONValue($0.key)))  \($0.value.string ?? "")\n" }.joined()
  }

  private func colored(_ row: String, _ word: String?) -> String {
    let row = PrintableText.of(row)
    return switch word {
    case "active", "published": terminal.colored(row, .green)
    case "preparing", "canary", "probation", "standby", "draining": terminal.colored(row, .yellow)
    case "refused", "rolled-back": terminal.colored(row, .red)
    default: terminal.colored(row, .dim)
    }
  }

  private func list(_ value: JSONValue?) -> [JSONValue] { value.map { Array($0.elements) } ?? [] }

  private func number(_ value: JSONValue?) -> String { value?.integer.map { String($0) } ?? "?" }

  private func word(_ value: JSONValue?) -> String { value?.string.flatMap { $0.isEmpty ? nil : $0 } ?? "-" }

  private func short(_ value: JSONValue?) -> String { String(word(value).prefix(12)) }
}
