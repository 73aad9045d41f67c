/// The name of a command, its arguments, and the function that runs it.
struct CommandDescription: Sendable {
  /// One word, or two: `plugin inspect`.
  let name: String
  /// One line of text, which does not end with a full stop.
  let summary: String
  /// The operands as the help shows them.
  let operands: String
  let operandCount: ClosedRange<Int>
  /// What to write in place of an operand that the command does not take; nil if no advice is known.
  let operandAdvice: String?
  /// The values that the operand accepts; empty if it accepts any value.
  let operandWords: [String]
  /// Whether the first operand is a program. All words after it then belong to the program, unchanged.
  let takesProgram: Bool
  /// Further paragraphs for the help.
  let details: String
  let options: [Option]
  /// Takes the name of an unknown option. Returns why the command does not have this option; nil if no reason is known.
  let reasonOfAbsence: @Sendable (String) -> String?
  let run: @Sendable (ParsedArguments) throws(CommandError) -> ExitStatus

  init(
    _ name: String, summary: String, operands: String = "", operandCount: ClosedRange<Int> = 0...0,
    operandAdvice: String? = nil, operandWords: [String] = [], details: String = "",
    options: [Option] = [], takesProgram: Bool = false,
    reasonOfAbsence: @escaping @Sendable (String) -> String? = { _ in nil },
    run: @escaping @Sendable (ParsedArguments) throws(CommandError) -> ExitStatus
  ) {
    self.name = name
    self.summary = summary
    self.operands = operands
    self.operandCount = operandCount
    self.operandAdvice = operandAdvice
    self.operandWords = operandWords
    self.takesProgram = takesProgram
    self.details = details
    self.options = options + [.help]
    self.reasonOfAbsence = reasonOfAbsence
    self.run = run
  }

  var usage: String {
    (["sluice \(name)"] + (options.count > 1 ? ["[OPTION]..."] : []) + (operands.isEmpty ? [] : [operands]))
      .joined(separator: " ")
  }

  func option(named name: some StringProtocol) -> Option? {
    options.first { $0.name == name || $0.aliases.contains(String(name)) }
  }
  func option(lettered letter: Character) -> Option? { options.first { $0.letter == letter } }
}
