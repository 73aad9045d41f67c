package import SluicePipeline

/// Why each header of a hop was sent or not, one line for each header: stage, header, reason, then the value or
/// details.
///
/// Values come from servers and callers: make them safe before a terminal shows them.
package enum ExplanationText {
  package static func of(_ hops: [HopExplanation]) -> String {
    guard !hops.isEmpty else { return "* no hop was issued\n" }
    return hops.map(text).joined()
  }

  private static func text(_ hop: HopExplanation) -> String {
    var lines = ["* attempt \(hop.attempt), hop \(hop.hop): \(hop.method) \(hop.origin)\(hop.path)"]
    let rows = hop.decisions.map(row)
    let widths = (0..<3).map { column in rows.map { $0[column].count }.max() ?? 0 }
    lines += rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) } + row.dropFirst(3)
      return "  " + trimmed(cells.joined(separator: "  "))
    }
    lines += hop.notes.map { "  \($0)" }
    if rows.isEmpty, hop.notes.isEmpty { lines.append("  no stage of \"request\" or \"issue\" sets headers") }
    return lines.map { $0.split(separator: "\n").joined(separator: " ") + "\n" }.joined()
  }

  private static func row(_ decision: HeaderDecision) -> [String] {
    let detail = decision.detail.map { "(\($0))" }
    return [decision.stage, decision.header, decision.reason.rawValue]
      + [[decision.value, detail].compactMap(\.self).joined(separator: " ")]
  }

  private static func trimmed(_ line: String) -> String {
    line.lastIndex { $0 != " " }.map { String(line[...$0]) } ?? ""
  }
}
