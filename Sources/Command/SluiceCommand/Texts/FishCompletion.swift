/// The completion script for fish.
enum FishCompletion {
  static func script(_ tree: CommandTree) -> String {
    """
    # Completion of sluice for fish, written by "sluice completion fish".

    complete -c sluice -f
    set -l commands \(tree.words.joined(separator: " "))
    \((tree.entries.map(entry) + tree.groups.flatMap(members)).joined(separator: "\n"))

    \(tree.commands.map { section($0, tree.words) }.joined(separator: "\n\n"))

    """
  }

  private static func entry(_ entry: CommandTree.Entry) -> String {
    line("not __fish_seen_subcommand_from $commands", "-a \(entry.word) -d \(quoted(entry.summary))")
  }

  private static func members(_ group: CommandTree.Entry) -> [String] {
    let words = group.members.map(\.lastWord).joined(separator: " ")
    return group.members.map { command in
      line(
        "__fish_seen_subcommand_from \(group.word); and not __fish_seen_subcommand_from \(words)",
        "-a \(command.lastWord) -d \(quoted(command.summary))")
    }
  }

  private static func section(_ command: CommandDescription, _ commands: [String]) -> String {
    let condition = command.name.split(separator: " ").map { "__fish_seen_subcommand_from \($0)" }
      .joined(separator: "; and ")
    let options = command.options.map { option in
      let letter = option.letter.map { "-s \($0) " } ?? ""
      let argument = option.argument == nil ? "" : " \(flags(option))"
      return line(condition, "\(letter)-l \(option.name)\(argument) -d \(quoted(option.summary))")
    }
    let operands = command.operandList(commands).lazy.map(\.completion).compactMap(operandFlags).first
    return (["# sluice \(command.name)"] + options + (operands.map { [line(condition, $0)] } ?? []))
      .joined(separator: "\n")
  }

  /// The flags that say whether the option needs an argument, and how the argument is completed.
  private static func flags(_ option: Option) -> String {
    switch option.completion {
    case .nothing, .urls, .programArguments: "-x"
    case .program: "-xa '(__fish_complete_command)'"
    case .files: option.isArgumentOptional ? "-F" : "-rF"
    case .folders: "-xa '(__fish_complete_directories)'"
    case .words(let words): "-xa '\(words.joined(separator: " "))'"
    }
  }

  private static func operandFlags(_ completion: Completion) -> String? {
    switch completion {
    case .files: "-F"
    case .folders: "-a '(__fish_complete_directories)'"
    case .words(let words): "-a '\(words.joined(separator: " "))'"
    case .program: "-F -a '(__fish_complete_command)'"
    case .nothing, .urls, .programArguments: nil
    }
  }

  private static func line(_ condition: String, _ rest: String) -> String {
    "complete -c sluice -n \"\(condition)\" \(rest)"
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
  }
}
