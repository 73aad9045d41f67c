import Sluice
import SluiceMessages
import SluicePluginHost
import SluiceReplay
import SluiceTrial

/// Finds the requested command, runs it, and reports errors.
enum CommandLineTool {
  static let commands: [CommandDescription] = [
    SendCommand.description, RunCommand.description, ServeCommand.description, AttachCommand.description,
    EnvoyCommand.plan, EnvoyCommand.config, EnvoyCommand.status, DevCommand.description,
    CheckCommand.description,
    BenchCommand.description, ReplayCommand.description, EchoCommand.description,
    VerifyTraceCommand.description, CtlCommand.status, CtlCommand.swap, CtlCommand.canary, CtlCommand.promote,
    CtlCommand.abort, CtlCommand.rollback, CtlCommand.metrics,
    CtlCommand.notify,
    UpdateCommand.check, UpdateCommand.apply, UpdateCommand.status,
    PublishCommand.begin, PublishCommand.newKey, PublishCommand.add, PublishCommand.sign, PublishCommand.timestamp,
    PublishCommand.rotate, PublishCommand.show,
    InspectCommand.description, ValidateCommand.description, NewCommand.description, BuildCommand.description,
    CompletionCommand.description, VersionCommand.description, HelpCommand.description,
  ]

  static let tree = CommandTree(
    commands,
    groups: [
      "ctl": "Talk to a running engine", "envoy": "Run the pipeline inside Envoy",
      "plugin": "Create, build, inspect and check plugins",
      "publish": "Make signed releases of plugins", "update": "Install signed releases of plugins",
    ])

  /// - Parameter words: the program's name, then the arguments.
  static func run(_ words: [ArgumentWord]) -> ExitStatus {
    let arguments = words.dropFirst()
    TaskPool.avoidProc()
    do {
      try StackLimit.check()
      // In a trial, the supervisor must see what the library writes and how it ends, so the command neither redirects
      // standard output nor intercepts exit(3).
      if !arguments.map(\.shown).elementsEqual(TrialSupervisor.arguments) {
        try StandardOutput.keepApart()
        _ = ProcessSignals.ignoredChildren
        ProcessEnd.watch()
      }
      return try dispatch(arguments.map(\.shown)[...], arguments)
    } catch {
      StandardError.say(PrintableText.of(error.message))
      return error.status
    }
  }

  /// - Parameters:
  ///   - words: the arguments as text, for comparisons.
  ///   - given: the same arguments as bytes.
  private static func dispatch(
    _ words: ArraySlice<String>, _ given: ArraySlice<ArgumentWord>
  ) throws(CommandError) -> ExitStatus {
    guard let first = words.first else {
      StandardError.write(HelpText.program(commands))
      return .usage
    }
    if let second = words.dropFirst().first, ["-h", "--help"].contains(second), let help = groupHelp(first) {
      try StandardOutput.write(help)
      return .succeeded
    }
    switch first {
    case "-h", "--help":
      try StandardOutput.write(HelpText.program(commands))
      return .succeeded
    case "-V", "--version": return try VersionCommand.description.run(ParsedArguments())
    default: break
    }
    // A host started this process for the trial of a library. Users do not type these arguments.
    if words.elementsEqual(TrialSupervisor.arguments) {
      return ExitStatus(code: TrialRun.serve([ReplayRun.task: ReplayRun.perform, CheckTrial.task: CheckTrial.perform]))
    }
    // "sluice dev" started this process to run the engine.
    if words.elementsEqual(DevEngine.arguments) { return DevEngine.run() }
    if words.starts(with: BuildKeeper.arguments) {
      return BuildKeeper.run(Array(words.dropFirst(BuildKeeper.arguments.count)))
    }
    let (command, rest) = try find(words)
    let arguments = try ArgumentParser.parse(given.suffix(rest.count), for: command)
    guard !arguments.has("help") else {
      try StandardOutput.write(HelpText.command(command))
      return .succeeded
    }
    return try command.run(arguments)
  }

  /// The command that the first one or two words name, and the words after its name.
  static func find(
    _ words: ArraySlice<String>
  ) throws(CommandError) -> (command: CommandDescription, rest: ArraySlice<String>) {
    let two = words.prefix(2).joined(separator: " ")
    if let command = commands.first(where: { $0.name == two }) { return (command, words.dropFirst(2)) }
    let one = words.first ?? ""
    if let command = commands.first(where: { $0.name == one }) { return (command, words.dropFirst()) }
    throw unknown(one, two)
  }

  /// The help for a word with which several commands begin, such as `ctl`; nil for any other word.
  static func groupHelp(_ word: String) -> String? {
    let members = group(word)
    return members.isEmpty ? nil : HelpText.group(word, members)
  }

  private static func group(_ word: String) -> [CommandDescription] {
    commands.filter { $0.name.hasPrefix("\(word) ") }
  }

  private static func unknown(_ one: String, _ two: String) -> CommandError {
    if one.hasPrefix("-") {
      return CommandError(
        .usage, "unknown option \(PlainText.excerpt(one.utf8.span)); a command comes first, see \"sluice help\"")
    }
    let parts = group(one).map(\.name)
    if !parts.isEmpty {
      let commands = parts.joined(separator: ", ")
      if two.dropFirst(one.count + 1).hasPrefix("-") {
        return CommandError(.usage, "\(one): the command comes before its options; available commands: \(commands)")
      }
      return CommandError(.usage, "\(PlainText.quote(two)) is not a command; available commands: \(commands)")
    }
    let hint = Suggestion.nearest(to: one, among: commands.map(\.name)).map { "did you mean \"\($0)\"?" }
    return CommandError(.usage, "unknown command \(PlainText.quote(one)); \(hint ?? "see \"sluice help\"")")
  }
}
