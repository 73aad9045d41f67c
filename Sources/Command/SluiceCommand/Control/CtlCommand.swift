import Glibc
import Sluice
import SluiceControl
import SluiceJSON
import SluiceMessages
import SluicePluginHost
import SluiceSupport

/// `sluice ctl`: commands to a running engine.
enum CtlCommand {
  private static let socket = Option(
    "socket", nil, "PATH", "The control socket (default: the socket of the only running engine)")
  private static let json = Option("json", nil, nil, "Print the answer as a JSON document")

  static let status = CommandDescription(
    "ctl status", summary: "Show the builds, swaps and pending work of a running engine",
    details: """
      Shows each build of a plugin that the engine has mapped, with the transactions that run on it, and the swaps so far.
      The engine must listen at a control socket: "sluice run --control", or "control" in its configuration.
      """,
    options: [socket, json]
  ) { arguments throws(CommandError) in
    try ask(arguments, "GET", "/v1/status", timeout: .seconds(30)) { StatusText($0, Terminal.standardOutput).text }
  }

  static let swap = CommandDescription(
    "ctl swap", summary: "Load new builds into a running engine, while requests flow", operands: "[PLUGIN]...",
    operandCount: 0...1000,
    details: """
      Without names, every library is checked; a library whose content has not changed stays loaded. Requests in flight
      finish on the old build, new ones run on the new build. If a build is refused, the status is 1, and the old build
      continues to serve. With --canary, or "swap.canary" in the configuration, the new build gets a growing part of the
      requests. With --shadow, or "swap.shadow", both builds first replay recorded requests. The command ends when the
      shadow or the first step has begun: see "sluice ctl canary".
      """,
    options: [
      Option("config", "c", "FILE", "Make the engine read this configuration; do not name plugins"),
      Option("canary", nil, "STEPS", "Begin a canary with these shares in percent, for instance 1,10,50"),
      Option("hold", nil, "DURATION", "The minimum time of each step of the canary"),
      Option("by", nil, "HEADER", "Requests with the same value of this header get the same build"),
      Option(
        "shadow", nil, "DURATION", "First compare both builds by replays of recorded requests; 0s leaves this out"),
      Option("share", nil, "PERCENT", "How many requests are recorded for the shadow (default 1)"),
      Option("now", nil, nil, "Publish at once, although the configuration has a canary or a shadow"), socket, json,
    ]
  ) { arguments throws(CommandError) in
    let document = JSONValue.object()
    if let file = arguments["config"] {
      guard arguments.operands.isEmpty else {
        throw CommandError(.usage, "ctl swap: give a configuration or names of plugins, not both")
      }
      document["configuration"] = JSONValue(try absolute(file))
    } else if !arguments.operands.isEmpty {
      document["plugins"] = .array(of: arguments.operands)
    }
    try begin(arguments, document)
    if document["configuration"] == nil, document["canary"]?.bool != false { try sayIfWaiting(arguments) }
    return try ask(arguments, "POST", "/v1/swap", document) { ReportText.line($0) + "\n" }
  }

  private static func sayIfWaiting(_ arguments: ParsedArguments) throws(CommandError) {
    let answer = try answer(arguments, "GET", "/v1/canary", nil, timeout: .seconds(30))
    guard let canary = answer["canary"] else { return }
    StandardError.say(
      "the swap waits until the canary has ended; --now would end it (\(CanaryText.line(canary)))", .info)
  }

  /// Sets the canary with which a swap begins; without options, the configuration decides.
  private static func begin(_ arguments: ParsedArguments, _ document: JSONValue) throws(CommandError) {
    let (settings, shadow) = (try canary(arguments), try shadow(arguments))
    guard settings.count + shadow.count > 0 else {
      // A configuration is always published at once.
      if arguments.has("now"), !arguments.has("config") { document["canary"] = false }
      return
    }
    let other = arguments.has("now") ? "--now" : arguments.has("config") ? "--config" : nil
    if let other {
      let given = ["canary", "hold", "by", "shadow", "share"].filter { arguments.has($0) }.map { "--\($0)" }
      throw CommandError(
        .usage, "ctl swap: \(other) publishes at once; leave out \(given.joined(separator: " and "))")
    }
    if settings.count > 0 { document["canary"] = settings }
    if shadow.count > 0 { document["shadow"] = shadow }
  }

  private static func shadow(_ arguments: ParsedArguments) throws(CommandError) -> JSONValue {
    let settings = JSONValue.object()
    settings["duration"] = try arguments.duration("shadow").map { JSONValue(DurationText.text($0)) }
    if let text = arguments["share"] {
      guard let share = percentage(text) else {
        throw CommandError(
          .usage, "ctl swap: --share expects a percentage such as 1 or 0.5%, not \(PlainText.quote(text))")
      }
      settings["share"] = JSONValue(share)
    }
    return settings
  }

  private static func percentage(_ text: some StringProtocol) -> Double? {
    Double(text.hasSuffix("%") ? text.dropLast() : text[...]).flatMap { $0.isFinite ? $0 : nil }
  }

  private static func canary(_ arguments: ParsedArguments) throws(CommandError) -> JSONValue {
    let settings = JSONValue.object()
    if let steps = arguments["canary"] {
      let words = steps.split(separator: ",", omittingEmptySubsequences: false)
      let shares = words.compactMap { percentage($0) }
      guard shares.count == words.count else {
        throw CommandError(
          .usage, "ctl swap: --canary expects shares in percent such as 1,10,50, not \(PlainText.quote(steps))")
      }
      settings["steps"] = .array(of: shares.map { JSONValue($0) })
    }
    settings["hold"] = try arguments.duration("hold").map { JSONValue(DurationText.text($0)) }
    settings["by"] = arguments["by"].map { ["header": JSONValue($0)] }
    return settings
  }

  static let canary = CommandDescription(
    "ctl canary", summary: "Show the canary of a running engine: both arms, and what it waits for",
    details: """
      A canary is a new build that serves a part of the requests. Its step ends when it has had enough time and requests, or
      at once when it is worse than the build that serves the others. With --watch, the status is 1 if the canary was ended
      because it was worse, or by a command.
      """,
    options: [Option("watch", nil, nil, "Show it again and again, until it has ended"), socket, json]
  ) { arguments throws(CommandError) in
    if arguments.has("watch") { return try watch(arguments) }
    return try ask(arguments, "GET", "/v1/canary", timeout: .seconds(30)) { CanaryText($0).text }
  }

  private static func watch(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    guard !arguments.has("json") else {
      throw CommandError(.usage, "ctl canary: --watch writes text; leave out --json")
    }
    var watch = CanaryWatch(isTerminal: Terminal.standardOutput.isTerminal)
    let pause = Monitor(false)
    while true {
      let answer = try answer(arguments, "GET", "/v1/canary", nil, timeout: .seconds(30))
      try StandardOutput.write(watch.text(of: answer))
      if watch.isOver { return watch.hasFailed(answer) ? .failed : .succeeded }
      _ = pause.wait(upTo: CanaryWatch.interval) { $0 ? true : nil }
    }
  }

  static let promote = CommandDescription(
    "ctl promote", summary: "Give the canary of a running engine all new requests", options: [socket, json]
  ) { arguments throws(CommandError) in
    try ask(arguments, "POST", "/v1/canary/promote") { ReportText.line($0) + "\n" }
  }

  static let abort = CommandDescription(
    "ctl abort", summary: "End the canary of a running engine, and refuse its builds", options: [socket, json]
  ) { arguments throws(CommandError) in
    try ask(arguments, "POST", "/v1/canary/abort") { ReportText.line($0) + "\n" }
  }

  static let rollback = CommandDescription(
    "ctl rollback", summary: "Undo the last swap of a running engine",
    details: """
      The rollback is immediate if the previous snapshot stands by; otherwise its builds are loaded again from their private
      copies.
      """,
    options: [socket, json]
  ) { arguments throws(CommandError) in
    try ask(arguments, "POST", "/v1/rollback") { ReportText.line($0) + "\n" }
  }

  static let metrics = CommandDescription(
    "ctl metrics", summary: "Show the metrics of a running engine and its plugins",
    options: [
      socket, json, Option("prometheus", nil, nil, "Print Prometheus' text format"),
    ]
  ) { arguments throws(CommandError) in
    guard arguments.has("prometheus") else {
      return try ask(arguments, "GET", "/v1/metrics", timeout: .seconds(30)) { MetricsText($0).text }
    }
    let text = try talk(arguments) { (client) throws(ControlError) in try await client.prometheusText() }
    try StandardOutput.write(String(decoding: text, as: UTF8.self))
    return .succeeded
  }

  static let notify = CommandDescription(
    "ctl notify", summary: "Offer a notification to the plugins of a running engine", operands: "TOPIC [JSON]",
    operandCount: 1...2,
    details: """
      Plugins are asked in the order of the configuration until one takes the notification. The status is 1 if none does,
      or if the plugin that took it fails or misses the deadline.
      """,
    options: [
      Option("deadline", nil, "DURATION", "Time limit for the outcome (default 30s)"), socket, json,
    ]
  ) { arguments throws(CommandError) in
    let document: JSONValue = ["topic": JSONValue(arguments.operands.first ?? "")]
    if let text = arguments.operands.dropFirst().first { document["payload"] = try payload(text) }
    let deadline = try arguments.duration("deadline") ?? .seconds(30)
    document["deadline"] = JSONValue(DurationText.text(deadline))
    let answer = try answer(arguments, "POST", "/v1/notify", document, timeout: deadline + .seconds(30))
    try show(answer, arguments) { NotificationText.line($0) + "\n" }
    return ["new-data", "no-data"].contains(answer["outcome"]?.string) ? .succeeded : .failed
  }

  private static func payload(_ text: String) throws(CommandError) -> JSONValue {
    do { return try JSONValue(parsing: text, options: .rejectDuplicates) } catch {
      throw CommandError(.usage, "ctl notify: the payload is not JSON: \(error.message)")
    }
  }

  // MARK: Asking

  private static func ask(
    _ arguments: ParsedArguments, _ method: String, _ path: String, _ document: JSONValue? = nil,
    timeout: Duration = .seconds(300), text: (JSONValue) -> String
  ) throws(CommandError) -> ExitStatus {
    try show(try answer(arguments, method, path, document, timeout: timeout), arguments, text)
    return .succeeded
  }

  private static func answer(
    _ arguments: ParsedArguments, _ method: String, _ path: String, _ document: JSONValue?, timeout: Duration
  ) throws(CommandError) -> JSONValue {
    try talk(arguments) { (client) throws(ControlError) in
      try await client.send(method, path, document, timeout: timeout)
    }
  }

  private static func show(
    _ answer: JSONValue, _ arguments: ParsedArguments, _ text: (JSONValue) -> String
  ) throws(CommandError) {
    try StandardOutput.write(arguments.has("json") ? "\(answer)\n" : text(answer))
  }

  /// With `--json`, an error is also written as a document to standard output.
  private static func talk<Answer: Sendable>(
    _ arguments: ParsedArguments,
    _ work: @escaping @Sendable (ControlClient) async throws(ControlError) -> Answer
  ) throws(CommandError) -> Answer {
    let socket = arguments["socket"]
    let result = WaitingThread.run { () async -> Result<Answer, ControlError> in
      do throws(ControlError) {
        let client = try ControlClient(at: socket)
        let result: Result<Answer, ControlError>
        do throws(ControlError) { result = .success(try await work(client)) } catch { result = .failure(error) }
        await client.close()
        return result
      } catch { return .failure(await RunningEngines.choice(of: error)) }
    }
    switch result {
    case .success(let answer): return answer
    case .failure(let error):
      if arguments.has("json") { try StandardOutput.write("\(error.document)\n") }
      throw CommandError(status(of: error.code), PrintableText.of("\(error)"))
    }
  }

  private static func status(of code: ControlError.Code) -> ExitStatus {
    switch code {
    case .noEngine, .severalEngines, .socket, .forbidden, .notFound, .methodNotAllowed, .malformed, .invalidRequest,
      .configuration, .tooLarge:
      .usage
    default: .failed
    }
  }

  private static func absolute(_ path: String) throws(CommandError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw CommandError(.usage, "cannot read \(PlainText.path(path)): \(String(cString: strerror(errno)))")
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}
