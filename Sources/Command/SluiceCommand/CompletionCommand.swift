import SluiceMessages

/// `sluice completion`.
enum CompletionCommand {
  static let description = CommandDescription(
    "completion", summary: "Print the script with which a shell completes the command", operands: "SHELL",
    operandCount: 1...1, operandWords: ["bash", "zsh", "fish"],
    details: """
      SHELL is bash, zsh or fish. A package installs the scripts; otherwise:

        eval "$(sluice completion bash)"                                     in ~/.bashrc
        sluice completion zsh >~/.zfunc/_sluice                              with ~/.zfunc in fpath
        sluice completion fish >~/.config/fish/completions/sluice.fish
      """
  ) { arguments throws(CommandError) in
    let shell = arguments.operands[0]
    guard let script = script(for: shell) else {
      throw CommandError(.usage, "completion: expected bash, zsh or fish, found \(PlainText.quote(shell))")
    }
    try StandardOutput.write(script)
    return .succeeded
  }

  /// Returns nil if there is no script for the shell.
  static func script(for shell: String) -> String? {
    switch shell {
    case "bash": BashCompletion.script(CommandLineTool.tree)
    case "zsh": ZshCompletion.script(CommandLineTool.tree)
    case "fish": FishCompletion.script(CommandLineTool.tree)
    default: nil
    }
  }
}
