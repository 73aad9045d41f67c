import SluiceJSON
import SluicePluginHost

/// `sluice plugin inspect`.
enum InspectCommand {
  static let description = CommandDescription(
    "plugin inspect", summary: "Show facts about plugins without running their code", operands: "LIBRARY...",
    operandCount: 1...1000,
    details: """
      A library is given by its path, or by the name of an installed plugin. The status is 3 if this host would refuse a
      library, and 2 if a file does not exist.
      """,
    options: [Option("json", nil, nil, "Print a JSON document for each library, one on each line")],
    run: { arguments throws(CommandError) in try inspect(arguments) })

  private static func inspect(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let paths = try arguments.operands.map { library throws(CommandError) in
      try PluginArguments.library(library, for: "plugin inspect")
    }
    var status = ExitStatus.succeeded
    for (index, path) in paths.enumerated() {
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
