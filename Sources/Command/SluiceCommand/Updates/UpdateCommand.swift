import Sluice
import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceTrial
import SluiceUpdate
import SluiceUpdateRules

/// `sluice update`.
enum UpdateCommand {
  private static let config = Option("config", "c", "FILE", "The configuration, with \"update\"")
  private static let json = Option("json", nil, nil, "Print the result as a JSON document")

  static let check = CommandDescription(
    "update check", summary: "Look for a signed release of the plugins",
    details: "Verifies what the repository has, and installs nothing.", options: [config, json]
  ) { arguments throws(CommandError) in try update(arguments, .never, "update check") }

  static let apply = CommandDescription(
    "update apply", summary: "Verify and install the newest signed release of the plugins",
    details: """
      The release is verified, downloaded and tried out, and serves from the next start. Running engines that use the
      same folder take it at their next look, or at once after "sluice ctl notify ota_update". The status is 1 if a
      release is refused, or if none could be fetched.
      """,
    options: [
      config, Option("retry", nil, nil, "Try a release again that was refused before"), json,
    ]
  ) { arguments throws(CommandError) in try update(arguments, .immediate, "update apply") }

  static let status = CommandDescription(
    "update status", summary: "Show which releases of the plugins are installed, and the history of updates",
    details: "Does not contact a server.", options: [config, json]
  ) { arguments throws(CommandError) in
    let document = try updater(arguments, "update status").status()
    try StandardOutput.write(arguments.has("json") ? "\(document)\n" : UpdateText(document).text)
    return document["error"] == nil ? .succeeded : .failed
  }

  private static func update(
    _ arguments: ParsedArguments, _ timing: Updater.Timing, _ name: String
  ) throws(CommandError) -> ExitStatus {
    LogOutput.adopt(LogOutput.Settings(least: .error))
    try TaskPool.start()
    let updater = try updater(arguments, name)
    let result = WaitingThread.run { await updater.check(timing, retriesHeld: arguments.has("retry")) }
    let isHeld = timing == .immediate && result.action == .none && updater.isNewestHeld
    if arguments.has("json") {
      let document: JSONValue = [
        "action": JSONValue(result.action.rawValue), "outcome": JSONValue(result.outcome.rawValue),
        "message": JSONValue(result.message),
      ]
      document["release"] = result.release.map { JSONValue($0) }
      document["error"] = result.error.map { JSONValue($0.code.rawValue) }
      try StandardOutput.write("\(document)\n")
    } else if result.action == .failed || isHeld {
      StandardError.say(PrintableText.of("\(name): \(result.message)"))
    } else {
      try StandardOutput.write(PrintableText.of("\(result.message)\n"))
    }
    return result.action == .failed || isHeld ? .failed : .succeeded
  }

  private static func updater(_ arguments: ParsedArguments, _ name: String) throws(CommandError) -> Updater {
    guard let file = arguments["config"] else {
      throw CommandError(.usage, "\(name): expected -c FILE, a configuration with \"update\"")
    }
    return try EngineUpdates.updater(try EngineStart.configuration(file))
  }
}
