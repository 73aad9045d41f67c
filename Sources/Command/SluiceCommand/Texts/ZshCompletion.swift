/// The completion script for zsh.
enum ZshCompletion {
  static func script(_ tree: CommandTree) -> String {
    """
    #compdef sluice
    # Completion of sluice for zsh, written by "sluice completion zsh".

    _sluice() {
      local -a commands
      commands=(
    \(tree.entries.map { "    '\($0.word):\(quoted($0.summary))'" }.joined(separator: "\n"))
      )
      if (( CURRENT == 2 )); then
        _describe 'command' commands
        return
      fi
      local command=$words[2]
      case $command in
    \(tree.groups.map(group).joined(separator: "\n"))
      esac
      shift words
      (( CURRENT-- ))
      case $command in
    \(tree.commands.map { branch($0, tree) }.joined(separator: "\n"))
      esac
    }

    _sluice "$@"

    """
  }

  private static func group(_ entry: CommandTree.Entry) -> String {
    """
        \(entry.word))
          if (( CURRENT == 3 )); then
            _values 'command' \(entry.members.map(\.lastWord).joined(separator: " "))
            return
          fi
          command="$command $words[3]"
          shift words
          (( CURRENT-- ))
          ;;
    """
  }

  private static func branch(_ command: CommandDescription, _ tree: CommandTree) -> String {
    let specifications = command.options.map(specification) + operands(command, tree)
    return """
          '\(command.name)')
            _arguments -s \\
              \(specifications.joined(separator: " \\\n          "))
            ;;
      """
  }

  private static func specification(_ option: Option) -> String {
    let repeats = option.summary.contains("repeat")
    let names =
      option.letter.map { letter in
        (repeats ? "'*'" : "'(-\(letter) --\(option.name))'") + "{-\(letter),--\(option.name)}'"
      } ?? "'\(repeats ? "*" : "")--\(option.name)"
    let argument = option.argument.map { placeholder in
      "\(option.isArgumentOptional ? "::" : ":")\(escaped(placeholder)):\(action(option.completion))"
    }
    return "\(names)[\(escaped(option.summary))]\(argument ?? "")'"
  }

  private static func operands(_ command: CommandDescription, _ tree: CommandTree) -> [String] {
    command.operandList(tree.words).enumerated().map { index, operand in
      "'\(place(operand, index)):\(operand.placeholder):\(action(operand.completion))'"
    }
  }

  private static func place(_ operand: CommandDescription.Operand, _ index: Int) -> String {
    switch operand.completion {
    // No option can follow the name of the program, because all further words belong to the program.
    case .program: "(-)\(index + 1)"
    case .programArguments: "*:"
    default: operand.repeats ? "*" : "\(index + 1)"
    }
  }

  private static func action(_ completion: Completion) -> String {
    switch completion {
    case .nothing: " "
    case .files: "_files"
    case .folders: "_files -/"
    case .urls: "_urls"
    case .program: "_command_names -e"
    case .programArguments: "_normal"
    case .words(let words): "(\(words.joined(separator: " ")))"
    }
  }

  /// Escapes text that is between single quotes, and that a colon would end.
  private static func quoted(_ text: String) -> String {
    text.replacing("'", with: "'\\''").replacing(":", with: "\\:")
  }

  /// Escapes text that is between single quotes, and that a colon or a bracket would end.
  private static func escaped(_ text: String) -> String {
    quoted(text).replacing("[", with: "\\[").replacing("]", with: "\\]")
  }
}
