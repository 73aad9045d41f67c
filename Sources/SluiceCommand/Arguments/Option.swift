/// One option of a command: the only place where it is spelled.
struct Option: Sendable {
  /// Without dashes.
  let name: String
  let letter: Character?
  /// What stands for its argument in the help; nil for a flag.
  let argument: String?
  /// Without a full stop.
  let summary: String

  init(_ name: String, _ letter: Character? = nil, _ argument: String? = nil, _ summary: String) {
    self.name = name
    self.letter = letter
    self.argument = argument
    self.summary = summary
  }

  static let help = Option("help", "h", nil, "Show this help")

  /// `-H, --header NAME: VALUE`.
  var usage: String {
    (letter.map { "-\($0), " } ?? "    ") + "--\(name)" + (argument.map { " \($0)" } ?? "")
  }
}
