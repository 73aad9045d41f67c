/// The completion script for bash.
enum BashCompletion {
  static func script(_ tree: CommandTree) -> String {
    let groups = tree.groups
    return """
      # Completion of sluice for bash, written by "sluice completion bash".

      _sluice() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]-}
        COMPREPLY=()
        if [ "$COMP_CWORD" -eq 1 ]; then
          mapfile -t COMPREPLY < <(compgen -W "\(joined(tree.words)) --help --version" -- "$current")
          return
        fi
        case $command in
          \(groups.map(\.word).joined(separator: " | "))) command="$command ${COMP_WORDS[2]-}" ;;
        esac
      \(tree.commands.filter(\.takesProgram).map(program).joined(separator: "\n"))
        # The argument of an option.
        case "$command $previous" in
      \(arguments(tree.commands))
        esac
        local options="" operands=""
        case $command in
      \(tree.commands.map { choice($0, tree.words) }.joined(separator: "\n"))
      \(groups.map { "    \"\($0.word) \"*) operands=\"-W \($0.members.map(\.lastWord).joined(separator: ","))\" ;;" }.joined(separator: "\n"))
        esac
        case $current in
          -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current") ;;
          *)
            case $operands in
              "") ;;
              -W*) mapfile -t COMPREPLY < <(IFS=,; compgen -W "${operands#-W }" -- "$current") ;;
              *) mapfile -t COMPREPLY < <(compgen "$operands" -- "$current") ;;
            esac
            ;;
        esac
      }

      complete -o filenames -F _sluice sluice

      """
  }

  private static func joined(_ words: [String]) -> String { words.joined(separator: " ") }

  /// All words after the name of the program belong to the program.
  private static func program(_ command: CommandDescription) -> String {
    let options = command.options.filter { $0.argument != nil }
      .flatMap { option in (option.letter.map { ["-\($0)"] } ?? []) + ["--\(option.name)"] }
    return """
        if [ "$command" = \(command.name) ]; then
          local place=2 word
          while [ "$place" -lt "$COMP_CWORD" ]; do
            word=${COMP_WORDS[place]}
            case $word in
              --) place=$((place + 1)); break ;;
              \(options.joined(separator: " | "))) place=$((place + 2)) ;;
              -*) place=$((place + 1)) ;;
              *) break ;;
            esac
          done
          if [ "$place" -lt "$COMP_CWORD" ]; then
            if declare -F _command_offset >/dev/null; then
              _command_offset "$place"
            else
              mapfile -t COMPREPLY < <(compgen -f -- "$current")
            fi
            return
          fi
        fi
      """
  }

  /// The branch that offers the options and operands of a command.
  private static func choice(_ command: CommandDescription, _ commands: [String]) -> String {
    let options = joined(command.options.map { "--\($0.name)" })
    let operands = command.operandList(commands).lazy.compactMap { flag($0.completion) }.first
    return "    \"\(command.name)\") options=\"\(options)\"\(operands.map { " operands=\"\($0)\"" } ?? "") ;;"
  }

  /// The option of `compgen` for this kind of completion.
  private static func flag(_ completion: Completion) -> String? {
    switch completion {
    case .files: "-f"
    case .folders: "-d"
    case .words(let words): "-W \(words.joined(separator: ","))"
    case .program: "-c"
    case .nothing, .urls, .programArguments: nil
    }
  }

  /// One branch for each kind of option argument.
  private static func arguments(_ commands: [CommandDescription]) -> String {
    var branches: [(flag: String, patterns: [String])] = []
    for command in commands {
      for option in command.options where option.argument != nil {
        guard let flag = flag(option.completion) else { continue }
        let spellings = (option.letter.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
        let patterns = spellings.map { "\"\(command.name) \($0)\"" }
        if let index = branches.firstIndex(where: { $0.flag == flag }) {
          branches[index].patterns += patterns
        } else {
          branches.append((flag, patterns))
        }
      }
    }
    return branches.map { branch in
      let flag =
        branch.flag.hasPrefix("-W ") ? "-W \"\(branch.flag.dropFirst(3).replacing(",", with: " "))\"" : branch.flag
      return """
            \(branch.patterns.joined(separator: " | ")))
              mapfile -t COMPREPLY < <(compgen \(flag) -- "$current")
              return
              ;;
        """
    }.joined(separator: "\n")
  }
}
