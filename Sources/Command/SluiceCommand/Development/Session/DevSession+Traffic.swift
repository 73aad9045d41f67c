import SluiceJSON
import SluiceMessages
import SluicePipeline

// Requests and their results.
extension DevSession {
  func sendRequests() {
    guard let engine, engine.isReady else { return }
    while let (id, line, isOfSet) = traffic.next() {
      engine.process.send(["request": JSONValue(line), "id": JSONValue(id), "recorded": JSONValue(isOfSet)])
    }
  }

  func requestEnded(_ document: JSONValue) {
    if let number = TypedLine.takeNumber(from: document) { traffic.finish(number) }
    document.removeMember("event")
    var event = DevEvent(.request, Self.words(document) + newBuilds(document), tone: Self.tone(document))
    event.members = document
    say(event)
    sendRequests()
  }

  /// A line such as `GET /users 200 12.3 ms`. For a failed transaction, it also contains the error, in the same words
  /// as in all commands.
  private static func words(_ document: JSONValue) -> String {
    let error = document["error"]
    let line = [
      document["method"]?.string, document["path"]?.string, document["status"]?.integer.map { "\($0)" },
      document["durationMs"].map { ReportText.duration($0) },
    ].compactMap(\.self).joined(separator: " ")
    guard let code = error?["code"]?.string, let message = error?["message"]?.string else { return line }
    let failure = TransactionError(
      code: ErrorCode(rawValue: code), message: message, stage: error?["stage"]?.string)
    return "\(line): \(failure)"
  }

  private static func tone(_ document: JSONValue) -> DevEvent.Tone {
    document["error"] != nil ? .bad : (document["status"]?.integer ?? 0) >= 400 ? .doubtful : .plain
  }

  /// The builds of a new snapshot, shown with the first request that runs on it.
  private func newBuilds(_ document: JSONValue) -> String {
    guard let snapshot = document["snapshot"]?.integer, snapshot > 1, snapshot != lastSnapshot else { return "" }
    lastSnapshot = snapshot
    let builds = good.serving.values.sorted { $0.library < $1.library }
    return " ("
      + builds.map { "\($0.plugins.joined(separator: ", ")) generation \($0.generation)" }.joined(separator: ", ") + ")"
  }

  // MARK: Replays

  /// Shows which recorded requests the new build handled differently.
  func differenceFound(_ document: JSONValue) {
    let report = document["report"]
    let lines = (document["text"]?.string ?? "").split(separator: "\n").map(String.init)
    let isSame = report?["same"]?.bool == true
    let count = report?["requests"]?.count ?? 0
    let text = isSame ? "same in \(count) request\(count == 1 ? "" : "s")" : lines.first ?? "nothing was compared"
    var event = DevEvent(
      .difference, plugins: document["plugins"]?.texts ?? [], text, tone: isSame ? .quiet : .doubtful
    ).with("report", report).with("same", JSONValue(isSame))
    if !isSame {
      event.details = lines.dropFirst().prefix(Self.shownDifferences).map { Self.colored($0, output.terminal) }
    }
    say(event)
  }

  private static let shownDifferences = 40

  private static func colored(_ line: String, _ terminal: Terminal) -> String {
    let text = PrintableText.of(line)
    return line.hasPrefix("    ") ? text : terminal.colored(text, .bold)
  }
}
