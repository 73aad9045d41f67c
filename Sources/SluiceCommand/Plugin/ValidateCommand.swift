import Glibc
import SluiceConformance
import SluiceJSON
import SluicePluginHost

/// `sluice plugin validate`.
enum ValidateCommand {
  static let description = CommandDescription(
    "plugin validate", summary: "Check that a plugin keeps the rules, each check in a process of its own",
    operands: "FILE", operandCount: 0...1,
    details: """
      Runs code of the library, in child processes with limits. The instances are told that this is a trial run; they are
      activated, and call-outs are refused. The status is 1 where a check failed, and 3 where the library cannot be used.
      """,
    options: [
      Option("config", "c", "JSON|FILE", "The configuration of the instances; many plugins want one"),
      Option("list", "l", nil, "List the checks"),
      Option("only", nil, "NAME", "Run this check alone; more than one may be given"),
      Option("seed", nil, "N", "Try at random what was tried with this seed"),
      Option("deadline", nil, "DURATION", "The time for each check, 30s without it"),
      Option("json", nil, nil, "Print a JSON document for each check, one a line"),
    ], run: { arguments throws(CommandError) in try validate(arguments) })

  private static func validate(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let checks = try chosen(arguments.all("only"))
    if arguments.has("list") { return try list(checks, asJSON: arguments.has("json")) }
    guard let path = arguments.operands.first else {
      throw CommandError(.usage, "plugin validate: expected FILE, a plugin's library")
    }
    let seed = try arguments.integer("seed", 0...Int.max).map { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000_000)
    guard let helper = TrialHelper.find() else {
      throw CommandError(.failed, "plugin validate: there is no sluice command to try a library out in")
    }
    var run = ConformanceRun(
      of: path, configuration: try configuration(arguments["config"]), seed: seed,
      deadline: try arguments.duration("deadline") ?? .seconds(30), helper: helper)
    run.checks = checks
    let report = ValidationReport(path: path, seed: seed, count: checks.count, asJSON: arguments.has("json"))
    do { try run.run(begin: { report.begin($0) }, end: { report.end($0) }) } catch {
      throw CommandError(error.isRefusal ? .refused : .usage, "\(error)")
    }
    return try report.finish()
  }

  private static func chosen(_ names: [String]) throws(CommandError) -> [ConformanceCheck] {
    guard !names.isEmpty else { return ConformanceCheck.all }
    for name in names where ConformanceCheck.named(name) == nil {
      let hint = Suggestion.nearest(to: name, among: ConformanceCheck.all.map(\.name)).map { "; did you mean \($0)?" }
      throw CommandError(.usage, "plugin validate: there is no check \"\(name)\"\(hint ?? "; see --list")")
    }
    return ConformanceCheck.all.filter { names.contains($0.name) }
  }

  private static func list(_ checks: [ConformanceCheck], asJSON: Bool) throws(CommandError) -> ExitStatus {
    let width = checks.map(\.name.count).max() ?? 0
    for check in checks {
      let document: JSONValue = ["check": JSONValue(check.name), "description": JSONValue(check.description)]
      let padding = String(repeating: " ", count: width - check.name.count)
      try StandardOutput.write(asJSON ? "\(document)\n" : "\(check.name)\(padding)  \(check.description)\n")
    }
    return .succeeded
  }

  /// JSON, or the name of a file that holds some.
  private static func configuration(_ argument: String?) throws(CommandError) -> JSONValue? {
    guard let argument else { return nil }
    let isText = argument.first { !$0.isWhitespace } == "{"
    if !isText, access(argument, F_OK) != 0 {
      throw CommandError(.usage, "--config: expected a JSON object or a file, and there is no file \(argument)")
    }
    let text = isText ? Array(argument.utf8) : try FileContent.read(argument)
    do { return try JSONValue(parsing: text, options: .rejectDuplicates) } catch {
      throw CommandError(.usage, "--config: \(isText ? "" : "\(argument): ")\(error)")
    }
  }
}
