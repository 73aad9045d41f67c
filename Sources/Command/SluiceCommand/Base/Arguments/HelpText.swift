/// The help of the program and of each command, made from the tables. It fits a terminal of 80 columns.
enum HelpText {
  private static let columns = 80

  private static let statuses =
    "Exit status: 0 all succeeded; 1 a request failed or output could not be written; 2 wrong usage or configuration;"
    + " 3 a library was refused; 70 a plugin called exit; 128 + signal when interrupted."

  static func program(_ commands: [CommandDescription]) -> String {
    """
    Usage: sluice COMMAND [OPTION]...

    Runs HTTP requests through a pipeline of native plugin stages.

    Commands:
    \(list(commands))

    "sluice help COMMAND" shows the usage of a command.

    \(wrapped(statuses))

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
    return commands.map { "  \(padded($0.name, width))  \(wrapped($0.summary, indent: width + 4))" }.joined(
      separator: "\n")
  }

  static func command(_ command: CommandDescription) -> String {
    let width = min(command.options.map(\.usage.count).max() ?? 0, 26)
    let options = command.options.map { "  " + line($0, width) }.joined(separator: "\n")
    let details = paragraphs(command.details).map { wrapped($0) + "\n\n" }.joined()
    return "Usage: \(command.usage)\n\n\(wrapped(command.summary + "."))\n\n\(details)Options:\n\(options)\n"
  }

  /// The paragraphs of a text, which blank lines separate. Other line ends are spaces.
  private static func paragraphs(_ text: String) -> [String] {
    text.split(separator: "\n\n").map { String($0).replacing("\n", with: " ") }
  }

  private static func line(_ option: Option, _ width: Int) -> String {
    let summary = wrapped(option.summary, indent: width + 4)
    guard option.usage.count <= width else {
      return "\(option.usage)\n  \(padded("", width))  \(summary)"
    }
    return "\(padded(option.usage, width))  \(summary)"
  }

  /// Breaks a text into lines that end at column 80 at the latest, unless a single word is longer.
  /// - Parameter indent: the column at which the text begins; further lines are indented as far.
  private static func wrapped(_ text: String, indent: Int = 0) -> String {
    var (lines, line) = ([String](), "")
    for word in text.split(separator: " ") {
      if !line.isEmpty, indent + line.count + 1 + word.count > columns {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return (lines + [line]).joined(separator: "\n" + String(repeating: " ", count: indent))
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
