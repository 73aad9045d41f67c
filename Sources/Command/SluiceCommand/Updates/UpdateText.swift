import SluiceJSON

/// The status of an updater, as text for people.
struct UpdateText {
  private let status: JSONValue

  init(_ status: JSONValue) { self.status = status }

  var text: String {
    var lines = ["\(string("channel")) of \(string("url"))"]
    if let error = status["error"]?.string { return PrintableText.of("\(lines[0])\n\(error)\n") }
    lines.append("installed: \(release("installed")); newest accepted: \(release("accepted"))")
    if let probation = status["probation"] {
      let previous = probation["previous"]?.integer.map { "; before it: release \($0)" } ?? ""
      lines.append("release \(probation["release"]?.integer ?? 0) is on probation\(previous)")
    }
    if let held = status["held"] {
      lines.append("release \(held["release"]?.integer ?? 0) is not installed: \(held["reason"]?.string ?? "")")
    }
    for (name, reason) in status["disabled"].map({ Array($0.members) }) ?? [] {
      lines.append("plugin \"\(name)\" is switched off: \(reason.string ?? "")")
    }
    if let check = status["lastCheck"] {
      lines.append(
        "last look: \(check["at"]?.string ?? ""), \(check["outcome"]?.string ?? ""): \(check["message"]?.string ?? "")")
    }
    for (hash, reason) in status["refused"].map({ Array($0.members) }) ?? [] {
      lines.append("refused build \(hash.prefix(12)): \(reason.string ?? "")")
    }
    for hash in status["revoked"].map({ Array($0.elements) }) ?? [] {
      lines.append("revoked build \(hash.string?.prefix(12) ?? "")")
    }
    let history = status["history"].map { Array($0.elements) } ?? []
    if !history.isEmpty { lines.append("history") }
    for event in history {
      let release = event["release"]?.integer.map { " release \($0)" } ?? ""
      let plugin = event["plugin"]?.string.map { " \"\($0)\"" } ?? ""
      let build = ["revoked", "refused"].contains(event["event"]?.string) ? event["sha256"]?.string : nil
      let hash = build.map { " \($0.prefix(12))" } ?? ""
      lines.append(
        "  \(event["at"]?.string ?? "")  \(event["event"]?.string ?? "")\(release)\(plugin)\(hash): "
          + (event["message"]?.string ?? ""))
    }
    return PrintableText.of(lines.map { "\($0)\n" }.joined())
  }

  private func string(_ key: String) -> String { status[key]?.string ?? "?" }

  private func release(_ key: String) -> String { status[key]?.integer.map { "release \($0)" } ?? "none" }
}
