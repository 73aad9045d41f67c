/// The help of the program and of each command, made from the tables.
enum HelpText {
  static func program(_ commands: [CommandDescription]) -> String {
    """
    Usage: sluice COMMAND [OPTION]...

    Runs HTTP requests through a pipeline of native plugin stages.

    Commands:
    \(list(commands))

    "sluice help COMMAND" shows the usage of a command. Exit status: 0 all succeeded; 1 a request failed or output
    could not be written; 2 wrong usage or configuration; 3 a library was refused; 70 a plugin called exit;
    128 + signal when interrupted.

    """
  }

  /// The help for a word with which several commands begin.
  static func group(_ word: String, _ commands: [CommandDescription]) -> String {
    """
    Usage: sluice \(word) COMMAND [OPTION]...

    Commands:
    \(list(commands))

    "sluice help \(word) COMMAND" shows the usage of a command.

    """
  }

  private static func list(_ commands: [CommandDescription]) -> String {
    let width = commands.map(\.name.count).max() ?? 0
    return commands.map { "  \(padded($0.name, width))  \($0.summary)" }.joined(separator: "\n")
  }

  static func command(_ command: CommandDescription) -> String {
    let width = min(command.options.map(\.usage.count).max() ?? 0, 30)
    let options = command.options.map { "  " + line($0, width) }.joined(separator: "\n")
    let details = command.details.isEmpty ? "" : "\(command.details)\n\n"
    return "Usage: \(command.usage)\n\n\(command.summary).\n\n\(details)Options:\n\(options)\n"
  }

  private static func line(_ option: Option, _ width: Int) -> String {
    guard option.usage.count <= width else {
      return "\(option.usage)\n  \(padded("", width))  \(option.summary)"
    }
    return "\(padded(option.usage, width))  \(option.summary)"
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
