import SluiceJSON
import SluiceMessages
import SluicePipeline

/// `sluice verify-trace`.
enum VerifyTraceCommand {
  static let description = CommandDescription(
    "verify-trace", summary: "Check an event log against the rules of the ledger", operands: "[FILE]",
    operandCount: 0...1,
    details: """
      Reads a log that "--events" of send or run wrote, from FILE or standard input, and names the first line that breaks
      a rule: each will_execute has one did_complete, the events in between are in order, attempts and hops are numbered
      without gaps, times do not go back, and phases fit into them. The status is 1 if a line breaks a rule.
      """,
    options: [Option("json", nil, nil, "Print the result as a JSON document")],
    run: { arguments throws(CommandError) in try verify(arguments) })

  /// The limit is higher than the length of any line that the engine writes, even with the longest URL that it accepts.
  private static let lineLimitBytes = 16 << 20

  private static func verify(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let input = try InputLines(path: arguments.operands.first, limitBytes: lineLimitBytes)
    var checker = LedgerChecker()
    let finding = try finding(input, &checker)
    if arguments.has("json") {
      try StandardOutput.write("\(verdict(finding, checker))\n")
    } else if let finding {
      StandardError.say("\(input.name): \(PrintableText.of(finding.text))")
    } else {
      try StandardOutput.write(
        "\(input.name): \(Figures.count(checker.events)) events of \(Figures.count(checker.transactions)) transactions, "
          + "no rule broken\n")
    }
    return finding == nil ? .succeeded : .failed
  }

  /// The first problem that was found in the log.
  private struct Finding {
    let rule: String
    let line: Int
    var transaction: String?
    let message: String

    var text: String { "line \(line): \(transaction.map { "transaction \($0): " } ?? "")\(message)" }
  }

  private static func finding(_ input: InputLines, _ checker: inout LedgerChecker) throws(CommandError) -> Finding? {
    while true {
      switch input.next() {
      case .text(let text):
        do throws(EventReading.Failure) {
          let entry = try EventReading.entry(text)
          if let finding = check(entry, input.number, &checker) { return finding }
        } catch { return unreadable(error, input) }
      case .tooLong: return Finding(rule: "format", line: input.number, message: "longer than any event")
      case .end: return end(checker)
      case .failure(let error): throw error
      }
    }
  }

  private static func check(_ entry: LedgerEntry, _ line: Int, _ checker: inout LedgerChecker) -> Finding? {
    do {
      try checker.check(entry, line: line)
      return nil
    } catch { return finding(error) }
  }

  private static func end(_ checker: LedgerChecker) -> Finding? {
    do {
      try checker.finish()
      return nil
    } catch { return finding(error) }
  }

  private static func finding(_ violation: LedgerViolation) -> Finding {
    Finding(
      rule: violation.rule.rawValue, line: violation.line, transaction: violation.transaction.description,
      message: violation.message)
  }

  private static func unreadable(_ failure: EventReading.Failure, _ input: InputLines) -> Finding {
    let line = input.number
    if failure.isCut, case .end = input.next() {
      return Finding(rule: "format", line: line, message: "the log is cut off in the middle of this line")
    }
    return Finding(rule: "format", line: line, message: failure.message)
  }

  private static func verdict(_ finding: Finding?, _ checker: LedgerChecker) -> JSONValue {
    let document: JSONValue = [
      "ok": JSONValue(finding == nil), "events": JSONValue(Int64(checker.events)),
      "transactions": JSONValue(Int64(checker.transactions)),
    ]
    guard let finding else { return document }
    let violation: JSONValue = [
      "rule": JSONValue(finding.rule), "line": JSONValue(Int64(finding.line)), "message": JSONValue(finding.message),
    ]
    violation["transaction"] = finding.transaction.map { JSONValue($0) }
    document["violation"] = violation
    return document
  }
}
