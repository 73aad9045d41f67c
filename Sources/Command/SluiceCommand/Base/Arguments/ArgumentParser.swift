import SluiceMessages

/// Splits a command line into options and operands as getopt_long does: `-o FILE`, `-oFILE`, `-si`, `--output FILE`,
/// `--output=FILE`. Options can follow operands; `--` ends the options.
///
/// Values of options that take bytes are kept unchanged. Any other word that is not UTF-8 is refused, because a
/// replacement of the invalid bytes would name a different file, header or URL.
struct ArgumentParser {
  private static let dash = UInt8(ascii: "-")

  private let command: CommandDescription
  private var rest: ArraySlice<ArgumentWord>
  private var parsed = ParsedArguments()

  static func parse(
    _ words: some Sequence<ArgumentWord>, for command: CommandDescription
  ) throws(CommandError) -> ParsedArguments {
    var parser = ArgumentParser(command: command, rest: Array(words)[...])
    try parser.parse()
    return parser.parsed
  }

  static func parse(
    _ words: some Sequence<String>, for command: CommandDescription
  ) throws(CommandError) -> ParsedArguments {
    try parse(words.map { ArgumentWord($0) }, for: command)
  }

  private init(command: CommandDescription, rest: ArraySlice<ArgumentWord>) {
    self.command = command
    self.rest = rest
  }

  private mutating func parse() throws(CommandError) {
    while let word = rest.popFirst() {
      let bytes = word.bytes[...]
      if word == "--" {
        try appendRest()
        break
      } else if bytes.starts(with: "--".utf8) {
        try parseName(bytes.dropFirst(2))
      } else if bytes.first == Self.dash, bytes.count > 1 {
        try parseLetters(bytes.dropFirst())
      } else if command.takesProgram {
        parsed.append(program: [word] + rest)
        break
      } else {
        try append(operand: word)
      }
    }
    try checkOperands()
  }

  private mutating func appendRest() throws(CommandError) {
    if command.takesProgram { return parsed.append(program: rest) }
    for operand in rest { try append(operand: operand) }
  }

  private mutating func parseName(_ word: ArraySlice<UInt8>) throws(CommandError) {
    let parts = word.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
    let name = ArgumentWord(parts[0])
    guard let option = name.text.flatMap({ command.option(named: $0) }) else { throw unknown("--\(name.shown)") }
    if option.argument == nil {
      guard parts.count == 1 else { throw usage("--\(option.name) takes no value") }
      parsed.append(option: option)
    } else {
      try append(option, attached: parts.count > 1 ? ArgumentWord(parts[1]) : nil, spelled: "--\(option.name)")
    }
  }

  private mutating func parseLetters(_ letters: ArraySlice<UInt8>) throws(CommandError) {
    var letters = letters
    while let byte = letters.first {
      let letter = Character(Unicode.Scalar(byte))
      guard byte < 0x80, let option = command.option(lettered: letter) else {
        throw unknown("-\(byte < 0x80 ? String(letter) : ArgumentWord(letters).shown)")
      }
      letters.removeFirst()
      guard option.argument == nil else {
        return try append(option, attached: letters.isEmpty ? nil : ArgumentWord(letters), spelled: "-\(letter)")
      }
      parsed.append(option: option)
    }
  }

  private mutating func append(_ option: Option, attached: ArgumentWord?, spelled: String) throws(CommandError) {
    if option.isArgumentOptional, attached == nil, rest.first.map({ $0.bytes.first == Self.dash }) ?? true {
      return parsed.append(option: option)
    }
    guard let value = attached ?? rest.popFirst() else {
      throw usage("\(spelled) needs a value: \(option.argument ?? "")")
    }
    guard option.takesBytes || value.text != nil else { throw notText(value, of: "the value of \(spelled)") }
    parsed.append(option: option, value: value)
  }

  private mutating func append(operand word: ArgumentWord) throws(CommandError) {
    guard let text = word.text else { throw notText(word, of: "an operand") }
    parsed.append(operand: text)
  }

  private func checkOperands() throws(CommandError) {
    guard !parsed.has("help") else { return }
    if parsed.operands.count < command.operandCount.lowerBound { throw usage("expected \(command.operands)") }
    if parsed.operands.count > command.operandCount.upperBound {
      let extra = parsed.operands[command.operandCount.upperBound]
      throw usage(
        "unexpected operand \(PlainText.quote(extra))"
          + (command.operands.isEmpty ? "" : "; expected \(command.operands)")
          + (command.operandAdvice.map { "; \($0)" } ?? ""))
    }
  }

  private func notText(_ word: ArgumentWord, of subject: String) -> CommandError {
    usage("\(subject) is not UTF-8: \(PlainText.quote(word.bytes.span))")
  }

  private func unknown(_ spelled: String) -> CommandError {
    if let reason = command.reasonOfAbsence(String(spelled.drop { $0 == "-" })) {
      return usage("\(spelled) is not available: \(reason)")
    }
    let known = command.options.map { "--\($0.name)" }
    let hint = Suggestion.nearest(to: spelled, among: known).map { "; did you mean \($0)?" } ?? ""
    return usage("unknown option \(PlainText.excerpt(spelled.utf8.span))\(hint)")
  }

  private func usage(_ message: String) -> CommandError {
    CommandError(.usage, "\(command.name): \(message)\ntry \"sluice help \(command.name)\"")
  }
}
