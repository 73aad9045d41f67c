import SluiceAssembly
import SluiceJSON

/// What `sluice ctl canary --watch` writes: on a terminal one screen, again and again; elsewhere a text for each decision.
struct CanaryWatch {
  static let interval = Duration.milliseconds(500)
  /// Moves to the upper left corner. The lines are overwritten one by one, so that the screen does not flicker.
  private static let (home, clearLine, clearBelow) = ("\u{1B}[H", "\u{1B}[K", "\u{1B}[J")

  private let isTerminal: Bool
  private var decision: [Int64] = []
  /// Whether a canary was running, or on probation, at the last answer.
  private var wasRunning = false
  private(set) var isOver = false

  init(isTerminal: Bool) { self.isTerminal = isTerminal }

  /// The text to write for the engine's answer; empty if nothing is new.
  mutating func text(of answer: JSONValue) -> String {
    // Without this, the end of a canary could be seen before its report.
    if answer["canary"] == nil, answer["deciding"]?.bool == true { return "" }
    isOver = answer["canary"] == nil && answer["probation"] == nil
    let last = answer["history"].flatMap { Array($0.elements).last }
    let decision = [last?["id"]?.integer, answer["canary"]?["step"]?.integer].map { $0 ?? 0 }
    defer { (self.decision, wasRunning) = (decision, !isOver) }
    let text = CanaryText(answer).text
    if isTerminal {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      return Self.home + lines.map { $0 + Self.clearLine }.joined(separator: "\n") + Self.clearBelow
    }
    return decision == self.decision && wasRunning == !isOver ? "" : text + (isOver ? "" : "\n")
  }

  /// Whether the last canary has returned to the old build.
  func hasFailed(_ answer: JSONValue) -> Bool {
    let last = answer["history"].flatMap { Array($0.elements).last }
    return last?["outcome"]?.string == "rolled-back" || last?["trigger"]?.string == "rollback"
  }
}
