import SluiceMessages

/// Takes the words of a command line apart as getopt_long does: `-o FILE`, `-oFILE`, `-si`, `--output FILE`,
/// `--output=FILE`; `--` ends the options, which may stand behind operands.
struct ArgumentParser {
  private let command: CommandDescription
  private var rest: ArraySlice<String>
  private var parsed = ParsedArguments()

  static func parse(_ words: ArraySlice<String>, for command: CommandDescription) throws(CommandError)
    -> ParsedArguments
  {
    var parser = ArgumentParser(command: command, rest: words)
    try parser.parse()
    return parser.parsed
  }

  private init(command: CommandDescription, rest: ArraySlice<String>) {
    self.command = command
    self.rest = rest
  }

  private mutating func parse() throws(CommandError) {
    while let word = rest.popFirst() {
      if word == "--" {
        for operand in rest { parsed.append(operand: operand) }
        break
      } else if word.hasPrefix("--") {
        try parseName(word.dropFirst(2))
      } else if word.hasPrefix("-"), word.count > 1 {
        try parseLetters(word.dropFirst())
      } else {
        parsed.append(operand: word)
      }
    }
    try checkOperands()
  }

  private mutating func parseName(_ word: Substring) throws(CommandError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let option = command.option(named: parts[0]) else { throw unknown("--\(parts[0])") }
    if option.argument == nil {
      guard parts.count == 1 else { throw usage("--\(option.name) takes no value") }
      parsed.append(option: option)
    } else {
      try append(option, attached: parts.count > 1 ? String(parts[1]) : nil, spelled: "--\(option.name)")
    }
  }

  private mutating func parseLetters(_ letters: Substring) throws(CommandError) {
    var letters = letters
    while let letter = letters.popFirst() {
      guard let option = command.option(lettered: letter) else { throw unknown("-\(letter)") }
      guard option.argument == nil else {
        return try append(option, attached: letters.isEmpty ? nil : String(letters), spelled: "-\(letter)")
      }
      parsed.append(option: option)
    }
  }

  private mutating func append(_ option: Option, attached: String?, spelled: String) throws(CommandError) {
    if option.isArgumentOptional, attached == nil, rest.first?.hasPrefix("-") ?? true {
      return parsed.append(option: option)
    }
    guard let value = attached ?? rest.popFirst() else {
      throw usage("\(spelled) needs a value: \(option.argument ?? "")")
    }
    parsed.append(option: option, value: value)
  }

  private func checkOperands() throws(CommandError) {
    guard !parsed.has("help") else { return }
    if parsed.operands.count < command.operandCount.lowerBound { throw usage("expected \(command.operands)") }
    if parsed.operands.count > command.operandCount.upperBound {
      let extra = parsed.operands[command.operandCount.upperBound]
      throw usage(
        "unexpected operand \(PlainText.quote(extra))"
          + (command.operands.isEmpty ? "" : "; expected \(command.operands)"))
    }
  }

  private func unknown(_ spelled: String) -> CommandError {
    let known = command.options.map { "--\($0.name)" }
    let hint = Suggestion.nearest(to: spelled, among: known).map { "; did you mean \($0)?" } ?? ""
    return usage("unknown option \(spelled)\(hint)")
  }

  private func usage(_ message: String) -> CommandError {
    CommandError(.usage, "\(command.name): \(message)\ntry \"sluice help \(command.name)\"")
  }
}
