import SluiceAssembly
import SluiceJSON
import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// `sluice verify-trace`.
enum VerifyTraceCommand {
  static let description = CommandDescription(
    "verify-trace", summary: "Check event logs against the rules of the ledger", operands: "[FILE]...",
    operandCount: 0...100_000,
    details: """
      Reads the logs that "--events" of send, run or attach wrote, from the files or standard input. FILE can be a folder:
      its files with names that end in ".jsonl" are read. Each log is checked by itself. For each log, the first line that
      breaks a rule is named: each will_execute has one did_complete, the events in between are in order, attempts and
      hops are numbered without gaps, times do not go back, and phases fit into them. The status is 1 if a line breaks a
      rule.
      """,
    options: [Option("json", nil, nil, "Print the result as a JSON document, one for each log")],
    run: { arguments throws(CommandError) in try verify(arguments) })

  /// The limit is higher than the length of any line that the engine writes, even with the longest URL that it accepts.
  private static let lineLimitBytes = 16 << 20

  private static func verify(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    var logs: [String] = []
    for path in arguments.operands { logs += try self.logs(at: path) }
    guard !logs.isEmpty else { return try verify(nil, arguments) }
    var isValid = true
    for log in logs { isValid = try verify(log, arguments, isOneOfMany: logs.count > 1) == .succeeded && isValid }
    return isValid ? .succeeded : .failed
  }

  /// The file itself, or the logs in a folder.
  private static func logs(at path: String) throws(CommandError) -> [String] {
    guard path != "-", Paths.isFolder(path) else { return [path] }
    let names = FolderListing.names(in: path).filter { $0.hasSuffix(".jsonl") }
    guard !names.isEmpty else {
      throw CommandError(
        .usage, "verify-trace: \(PlainText.path(path)) has no file with a name that ends in \".jsonl\"")
    }
    return names.map { "\(path)/\($0)" }
  }

  /// - Parameter path: nil means standard input.
  private static func verify(
    _ path: String?, _ arguments: ParsedArguments, isOneOfMany: Bool = false
  ) throws(CommandError) -> ExitStatus {
    let input = try InputLines(path: path, limitBytes: lineLimitBytes)
    var checker = LedgerChecker()
    let finding = try finding(input, &checker)
    if arguments.has("json") {
      let verdict = verdict(finding, checker)
      if isOneOfMany { verdict["file"] = JSONValue(input.name) }
      try StandardOutput.write("\(verdict)\n")
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
