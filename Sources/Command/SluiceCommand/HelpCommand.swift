import SluiceMessages

/// `sluice help`.
enum HelpCommand {
  static let description = CommandDescription(
    "help", summary: "Show the commands, or the usage of a command", operands: "[COMMAND]", operandCount: 0...2,
    options: [
      Option("man", nil, nil, "Print the manual page, for man(1)"),
      Option("curl", nil, nil, "Print how \"sluice send\" treats each option of curl, in Markdown"),
    ]
  ) { arguments throws(CommandError) in
    if arguments.has("curl") {
      try StandardOutput.write(CurlOptions.text)
      return .succeeded
    }
    if arguments.has("man") {
      try StandardOutput.write(ManPage.text(CommandLineTool.commands, version: VersionCommand.version))
      return .succeeded
    }
    guard let first = arguments.operands.first else {
      try StandardOutput.write(HelpText.program(CommandLineTool.commands))
      return .succeeded
    }
    if arguments.operands.count == 1, let help = CommandLineTool.groupHelp(first) {
      try StandardOutput.write(help)
      return .succeeded
    }
    let (command, rest) = try CommandLineTool.find(arguments.operands[...])
    if let extra = rest.first { throw CommandError(.usage, "help: unexpected operand \(PlainText.quote(extra))") }
    try StandardOutput.write(HelpText.command(command))
    return .succeeded
  }
}
