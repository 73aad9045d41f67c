import SluiceJSON
import SluiceMessages
import SluiceTrial

/// Reports each check of a conformance run, and the result.
final class ValidationReport {
  private let path: String
  private let seed: UInt64
  private let count: Int
  private let asJSON: Bool
  private let terminal = Terminal.standardOutput
  private let errors = Terminal.standardError
  private var passed = 0
  private var failed: [String] = []
  private var skipped: [String] = []
  private var absent = 0
  private let isStrict: Bool
  private var outputError: CommandError?

  init(path: String, seed: UInt64, count: Int, asJSON: Bool, isStrict: Bool = false) {
    self.isStrict = isStrict
    self.path = path
    self.seed = seed
    self.count = count
    self.asJSON = asJSON
  }

  /// Prints that the configuration of the instances was derived from the plugin's schema.
  func note(derived configuration: JSONValue) {
    write(
      asJSON
        ? "\(["configuration": configuration] as JSONValue)\n"
        : "the configuration is derived from the schema: \(PrintableText.line("\(configuration)"))\n")
  }

  /// Shows the running check on a terminal.
  func begin(_ check: ConformanceCheck) {
    guard errors.isTerminal else { return }
    let done = passed + failed.count + skipped.count + absent
    StandardError.write("\r\u{1B}[K\(done + 1)/\(count) \(check.name)")
  }

  func end(_ outcome: ConformanceRun.Outcome) {
    if errors.isTerminal { StandardError.write("\r\u{1B}[K") }
    let (word, reason, color): (String, String?, Terminal.Color) =
      switch outcome.verdict {
      case .passed: ("passed", nil, .green)
      case .failed(let reason): ("failed", reason, .red)
      case .skipped(let reason): ("skipped", reason, isStrict ? .red : .dim)
      case .absent(let reason): ("absent", reason, .dim)
      }
    switch outcome.verdict {
    case .passed: passed += 1
    case .failed: failed.append(outcome.check.name)
    case .skipped: skipped.append(outcome.check.name)
    case .absent: absent += 1
    }
    asJSON ? writeDocument(outcome, word, reason) : writeLine(outcome, terminal.colored(word, color), reason)
  }

  /// Writes the summary, and returns the status.
  func finish() throws(CommandError) -> ExitStatus {
    if let outputError { throw outputError }
    if !asJSON {
      let repeated = failed.isEmpty ? "" : "; repeat with --seed \(seed)"
      try StandardOutput.write(
        "\(path): \(passed) passed, \(failed.count) failed, \(skipped.count) skipped, \(absent) absent\(repeated)\n")
    }
    return failed.isEmpty && (!isStrict || skipped.isEmpty) ? .succeeded : .failed
  }

  private func writeLine(_ outcome: ConformanceRun.Outcome, _ word: String, _ reason: String?) {
    let detail = reason.map { "\n        \(PlainText.line($0))" } ?? ""
    write("\(word)  \(outcome.check.name): \(outcome.check.description)\(detail)\n")
  }

  private func writeDocument(_ outcome: ConformanceRun.Outcome, _ word: String, _ reason: String?) {
    let document: JSONValue = [
      "check": JSONValue(outcome.check.name), "description": JSONValue(outcome.check.description),
      "outcome": JSONValue(word), "seed": JSONValue(Int64(bitPattern: seed)),
      "durationMs": JSONValue((outcome.duration.inSeconds * 1e6).rounded() / 1e3),
    ]
    document["reason"] = reason.map { JSONValue($0) }
    write("\(document)\n")
  }

  private func write(_ text: String) {
    do { try StandardOutput.write(text) } catch { outputError = outputError ?? error }
  }
}
