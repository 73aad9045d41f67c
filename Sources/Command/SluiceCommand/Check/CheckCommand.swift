import Sluice
import SluiceAssembly
import SluiceGateway
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluicePluginHost

/// `sluice check`.
enum CheckCommand {
  static let description = CommandDescription(
    "check", summary: "Check a configuration and its plugins",
    operandAdvice: "name the configuration with -c",
    details:
      "Reads the configuration and the certificates of its ports, loads its plugins and activates their instances, in a child process; sends nothing.",
    options: [
      Option("config", "c", "FILE", "The configuration"),
      Option("json", nil, nil, "Print the result as a JSON document"),
    ], run: { arguments throws(CommandError) in try check(arguments) })

  private static func check(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    guard let file = arguments["config"] else { throw CommandError(.usage, "check: expected -c FILE, a configuration") }
    let (configuration, outcome) = outcome(of: file)
    let problems = outcome.problems
    let swapWarnings = (configuration.map(swapWarnings) ?? []) + outcome.warnings
    if arguments.has("json") {
      try StandardOutput.write(verdict(file, configuration, outcome, (configuration?.warnings ?? []) + swapWarnings))
    } else if let configuration, problems.isEmpty {
      try StandardOutput.write(words(file, configuration, outcome.missingLists))
    }
    if !arguments.has("json") {
      // The engine of the trial has already logged the warnings of the configuration.
      for warning in swapWarnings { StandardError.say(PrintableText.of(warning), .warning) }
      for problem in problems { StandardError.say(PrintableText.of(problem.message)) }
    }
    return problems.first?.status ?? .succeeded
  }

  private static func outcome(of file: String) -> (Configuration?, CheckTrial.Outcome) {
    do throws(CommandError) {
      let text = try text(of: file)
      let configuration = try EngineStart.configuration(text, of: file)
      // All libraries are checked here, because the engine would stop at the first problem.
      let refusals =
        configuration.plugins.compactMap { refusal($0, configuration) }
        + configuration.serve.listeners.enumerated().compactMap { index, listener in
          Gateway.certificateProblem(of: listener).map {
            CommandError(.usage, "\(file): serve.listen[\(index)].tls: \($0)")
          }
        }
      guard refusals.isEmpty else { return (configuration, CheckTrial.Outcome(problems: refusals)) }
      return (configuration, try CheckTrial(file, text, configuration).outcome())
    } catch {
      return (nil, CheckTrial.Outcome(problems: [error]))
    }
  }

  private static func text(of file: String) throws(CommandError) -> [UInt8] {
    do { return try Configuration.text(of: file) } catch { throw CommandError(.usage, "\(error)") }
  }

  /// Why the library of a plugin cannot be used; nil if no reason is found without running its code.
  private static func refusal(_ plugin: PluginConfiguration, _ configuration: Configuration) -> CommandError? {
    guard case .library(let path) = plugin.source,
      let error = PluginReport(path, allowing: configuration.allowed(of: path)).error
    else { return nil }
    return EngineStart.failure(EngineError(error.named(plugin.name), of: path, in: configuration))
  }

  /// What a swap will not replace in the libraries of the configuration.
  private static func swapWarnings(_ configuration: Configuration) -> [String] {
    configuration.libraries.flatMap { library in
      let names = configuration.plugins(of: library).map { PlainText.quote($0) }.joined(separator: ", ")
      return PluginReport(library).swapWarnings.map { "plugin \(names) at \(library): \($0)" }
    }
  }

  private static func words(_ file: String, _ configuration: Configuration, _ missing: [MissingList]) -> String {
    let lists = [
      ("request", configuration.request), ("issue", configuration.issue), ("response", configuration.response),
      ("tracers", configuration.tracers),
    ]
    let stages = lists.filter { !$0.1.isEmpty }
      .map { "  \($0.0): \($0.1.map(\.plugin).joined(separator: ", "))\n" }.joined()
    let unused = missing.map { missing in
      "  unused: \(missing.callbacks.joined(separator: ", ")) of \(missing.plugin), which is not in \"\(missing.list.rawValue)\"\n"
    }.joined()
    let count = configuration.plugins.count
    return "ok: \(file): \(count) \(count == 1 ? "plugin" : "plugins")\n\(stages)\(unused)"
  }

  /// The verdict, such as `{"ok": false, "file": …, "problems": ["…"]}`, on one line.
  private static func verdict(
    _ file: String, _ configuration: Configuration?, _ outcome: CheckTrial.Outcome, _ warnings: [String]
  ) -> String {
    let document: JSONValue = ["ok": JSONValue(outcome.problems.isEmpty), "file": JSONValue(file)]
    if let configuration { document["plugins"] = .array(of: configuration.plugins.map(\.name)) }
    document["problems"] = .array(of: outcome.problems.map(\.message))
    if !outcome.missingLists.isEmpty { document["missingLists"] = .array(of: outcome.missingLists.map(\.document)) }
    if !warnings.isEmpty { document["warnings"] = .array(of: warnings) }
    return "\(document)\n"
  }
}
