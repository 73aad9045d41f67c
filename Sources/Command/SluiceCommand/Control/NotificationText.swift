import SluiceJSON

/// The result of a notification as text.
enum NotificationText {
  static func line(_ answer: JSONValue) -> String {
    let outcome = answer["outcome"]?.string ?? "?"
    let took = ReportText.duration(answer["durationMs"])
    guard let taker = answer["taker"] else { return "no plugin took it, \(took)" }
    guard let plugin = taker["plugin"]?.string else {
      let who = taker["updater"]?.bool == true ? "the updater of plugins" : "the program"
      return "\(outcome): taken by \(who), \(took)"
    }
    let id = taker["pluginId"]?.string ?? "?"
    return PrintableText.of(
      "\(outcome): taken by \"\(plugin)\" (\(id), generation \(taker["generation"]?.integer ?? 0)), \(took)")
  }
}
