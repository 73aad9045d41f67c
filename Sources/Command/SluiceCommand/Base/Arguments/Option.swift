/// One option of a command. Its spelling is defined only here.
struct Option: Sendable {
  /// Without dashes.
  let name: String
  /// Further names of the option, which the help does not show.
  let aliases: [String]
  let letter: Character?
  /// The placeholder for its argument in the help; nil for a flag.
  let argument: String?
  /// Whether the argument can be omitted. A following word that begins with a dash is then the next option.
  let isArgumentOptional: Bool
  /// Whether the argument is sent unchanged, even if it is not UTF-8. Otherwise a value that is not UTF-8 is refused.
  let takesBytes: Bool
  /// The values that the option accepts; empty if it accepts any value.
  let words: [String]
  /// One line of text, which does not end with a full stop.
  let summary: String

  init(
    _ name: String, _ letter: Character? = nil, _ argument: String? = nil, isArgumentOptional: Bool = false,
    takesBytes: Bool = false, words: [String] = [], aliases: [String] = [], _ summary: String
  ) {
    self.name = name
    self.aliases = aliases
    self.letter = letter
    self.argument = argument
    self.isArgumentOptional = isArgumentOptional
    self.takesBytes = takesBytes
    self.words = words
    self.summary = summary
  }

  static let help = Option("help", "h", nil, "Show this help")

  /// The option as the help shows it: `-H, --header NAME: VALUE`.
  var usage: String {
    (letter.map { "-\($0), " } ?? "    ") + "--\(name)"
      + (argument.map { isArgumentOptional ? " [\($0)]" : " \($0)" } ?? "")
  }
}
