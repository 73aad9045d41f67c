import SluiceJSON
import SluicePluginHost

/// `sluice plugin inspect`.
enum InspectCommand {
  static let description = CommandDescription(
    "plugin inspect", summary: "Read the facts of plugins without running their code", operands: "PATH...",
    operandCount: 1...1000,
    details: "The status is 3 where a library could not be used, and 2 where there is none.",
    options: [Option("json", nil, nil, "Print a JSON document for each, one a line")],
    run: { arguments throws(CommandError) in try inspect(arguments) })

  private static func inspect(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    var status = ExitStatus.succeeded
    for (index, path) in arguments.operands.enumerated() {
      let report = PluginReport(path)
      if arguments.has("json") {
        try StandardOutput.write("\(report.document)\n")
      } else {
        try StandardOutput.write((index > 0 ? "\n" : "") + report.text)
        StandardError.say(report.error.map { PrintableText.line("\($0)") } ?? "")
      }
      if let error = report.error { status = error.isRefusal ? .refused : status == .refused ? status : .usage }
    }
    return status
  }
}
