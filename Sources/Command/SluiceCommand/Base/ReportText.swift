import SluiceAssembly
import SluiceJSON

/// The report of a swap as text.
enum ReportText {
  /// `swap 3: published as snapshot 4 ("auth" 1.0.0 generation 1 3fa9… → 1.0.1 generation 2 77ab…), 84.1 ms`.
  static func line(_ report: JSONValue) -> String {
    let snapshot = report["snapshot"]?.integer ?? 0
    let outcome = report["outcome"]?.string ?? "?"
    let words =
      switch outcome {
      case "published": "published as snapshot \(snapshot)"
      case "canary":
        "snapshot \(report["canary"]?["snapshot"]?.integer ?? 0) "
          + SwapReport.Canary.words(report["canary"]?["percent"]?.number ?? 0)
      case "rolled-back": "returned to snapshot \(snapshot)"
      default: outcome
      }
    let what = changes(report)
    let line =
      "\(report["trigger"]?.string ?? "?") \(report["id"]?.integer ?? 0): \(words)"
      + (what.isEmpty ? "" : " (\(what))") + ", \(duration(report["durationMs"]))" + late(report)
      + warnings(report)
    return PrintableText.of(line)
  }

  /// The loops that have not taken the snapshot yet, and why.
  private static func late(_ report: JSONValue) -> String {
    guard let late = report["late"], late.count > 0, let reason = report["reason"]?.string else { return "" }
    return "; " + reason
  }

  /// What the new builds do not replace.
  private static func warnings(_ report: JSONValue) -> String {
    let warnings =
      report["changes"].map { $0.elements.flatMap { $0["warnings"].map { Array($0.elements) } ?? [] } } ?? []
    return warnings.compactMap(\.string).map { "; warning: \($0)" }.joined()
  }

  static func changes(_ report: JSONValue) -> String {
    guard let changes = report["changes"] else { return "" }
    return changes.elements.map { Self.change($0) }.joined(separator: "; ")
  }

  private static func change(_ change: JSONValue) -> String {
    let names: [String] = change["plugins"].map { $0.elements.compactMap(\.string) } ?? []
    let quoted = names.map { "\"\($0)\"" }.joined(separator: ", ")
    let builds = [change["old"], change["new"]].compactMap(\.self).map { build($0) }.joined(separator: " → ")
    return builds.isEmpty ? quoted : "\(quoted) \(builds)"
  }

  static func duration(_ milliseconds: JSONValue?) -> String {
    Figures.time(nanoseconds: UInt64(min(max(0, milliseconds?.number ?? 0), 1e12) * 1e6))
  }

  private static func build(_ build: JSONValue) -> String {
    var parts: [String] = []
    if let version = build["version"]?.string { parts.append(version) }
    if let generation = build["generation"]?.integer { parts.append("generation \(generation)") }
    if let hash = build["hash"]?.string { parts.append(String(hash.prefix(12))) }
    return parts.joined(separator: " ")
  }
}
