import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceTrial

/// `sluice plugin validate`.
enum ValidateCommand {
  static let description = CommandDescription(
    "plugin validate", summary: "Check that a plugin follows the rules, each check in its own process",
    operands: "LIBRARY", operandCount: 0...1,
    details: """
      A library is given by its path, or by the name of an installed plugin. Its code runs in child processes with limits.
      The instances can find out that this is a trial; they are activated, and call-outs get a fixed answer. Without
      --config the smallest configuration that the plugin's schema allows is tried. The status is 1 if a check failed, with
      --strict also if one was skipped, and 3 if the library cannot be used.
      """,
    options: [
      Option("config", "c", "JSON|FILE", "The configuration of the instances; many plugins require one"),
      Option(
        "answer", nil, "JSON|FILE",
        "Answer call-outs with this response document (default: a token and status 200)"),
      Option(
        "strict", nil, nil, "Also fail if a check was skipped: the plugin has the feature, but it was not checked"),
      Option("list", "l", nil, "List the checks"),
      Option("only", nil, "NAME", "Run only this check; may be repeated"),
      Option("seed", nil, "N", "Use the same random input as the run with this seed"),
      Option("deadline", nil, "DURATION", "Time limit for each check (default 30s)"),
      Option("json", nil, nil, "Print a JSON document for each check, one on each line"),
    ], run: { arguments throws(CommandError) in try validate(arguments) })

  private static func validate(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let checks = try chosen(arguments.all("only"))
    if arguments.has("list") { return try list(checks, asJSON: arguments.has("json")) }
    guard let library = arguments.operands.first else {
      throw CommandError(.usage, "plugin validate: expected LIBRARY, the path of a plugin's library or its name")
    }
    let path = try PluginArguments.library(library, for: "plugin validate")
    let seed = try arguments.integer("seed", 0...Int.max).map { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000_000)
    guard let helper = TrialHelper.find() else {
      throw CommandError(.failed, "plugin validate: no sluice command was found to run the checks in")
    }
    var run = ConformanceRun(
      of: path, configuration: try configuration(arguments["config"], of: path),
      callOutAnswer: try answer(arguments["answer"]), seed: seed,
      deadline: try arguments.duration("deadline") ?? .seconds(30), helper: helper)
    run.checks = checks
    let report = ValidationReport(
      path: path, seed: seed, count: checks.count, asJSON: arguments.has("json"), isStrict: arguments.has("strict"))
    do {
      try run.run(derived: { report.note(derived: $0) }, begin: { report.begin($0) }, end: { report.end($0) })
    } catch {
      throw CommandError(error.isRefusal ? .refused : .usage, "\(error)")
    }
    return try report.finish()
  }

  private static func chosen(_ names: [String]) throws(CommandError) -> [ConformanceCheck] {
    guard !names.isEmpty else { return ConformanceCheck.all }
    for name in names where ConformanceCheck.named(name) == nil {
      let hint = Suggestion.nearest(to: name, among: ConformanceCheck.all.map(\.name)).map { "; did you mean \($0)?" }
      throw CommandError(.usage, "plugin validate: there is no check \(PlainText.quote(name))\(hint ?? "; see --list")")
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

  /// The configuration of the instances, with the values of its references; nil without the option.
  private static func configuration(_ argument: String?, of library: String) throws(CommandError) -> JSONValue? {
    guard let document = try document(argument, of: "--config") else { return nil }
    if document["plugins"]?.isObject == true, document["config"] == nil {
      throw CommandError(
        .usage, "--config: this is the configuration of a pipeline; give the \"config\" of the plugin in it")
    }
    let whole: JSONValue = ["plugins": ["plugin": ["library": JSONValue(library), "config": document]]]
    let file = argument.flatMap { isText($0) ? nil : $0 } ?? "--config"
    do throws(ConfigurationError) {
      return try Configuration(text: Array("\(whole)".utf8), file: file).plugins.first?.config
    } catch { throw CommandError(.usage, "--config: \(error.reason)" + (error.advice.map { "; \($0)" } ?? "")) }
  }

  /// The response document of `--answer`; nil without the option.
  static func answer(_ argument: String?) throws(CommandError) -> JSONValue? {
    guard let answer = try document(argument, of: "--answer") else { return nil }
    do { _ = try ResponseDocument.read(answer, rules: .line) } catch {
      throw CommandError(.usage, "--answer: expected a response document: \(error)")
    }
    return answer
  }

  private static func isText(_ argument: String) -> Bool { argument.first { !$0.isWhitespace } == "{" }

  /// A document that is given as JSON, or as the name of a file that contains JSON.
  private static func document(_ argument: String?, of option: String) throws(CommandError) -> JSONValue? {
    guard let argument else { return nil }
    let isText = isText(argument)
    if !isText, access(argument, F_OK) != 0 {
      throw CommandError(.usage, "\(option): expected a JSON object or a file, but there is no file \(argument)")
    }
    let text = isText ? Array(argument.utf8) : try FileContent.read(argument)
    do { return try JSONValue(parsing: text.withoutByteOrderMark, options: .rejectDuplicates) } catch {
      throw CommandError(.usage, "\(option): \(isText ? "" : "\(argument): ")\(error)")
    }
  }
}
