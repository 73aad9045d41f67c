import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport
import SluiceTraceContext

/// `sluice send`.
enum SendCommand {
  static let description = CommandDescription(
    "send", summary: "Send requests through the pipeline and print the bodies of the responses",
    operands: "[METHOD] URL...", operandCount: 0...100_000,
    details: """
      The method is GET, or POST if there is data. A relative URL is resolved against "transport.baseURL" of the
      configuration; "http://" is put before it if there is no base URL, or if it begins like "localhost:8080/x".
      {a,b} and [1-9] in a URL stand for several URLs. Requests are sent one after the other.
      Redirects are followed. The body is printed even if the request fails. Exit statuses are those of curl.
      On standard output, wherever it leads, the body is decoded (gzip, deflate, br, zstd). A file of -o or -O gets the
      body as the server sent it; with --compressed it is decoded too.
      TRACEPARENT, TRACESTATE and BAGGAGE in the environment are the parent trace context.
      """,
    options: SendOptions.all,
    reasonOfAbsence: { CurlOptions.reason(for: $0)?.replacing("`", with: "") },
    run: { arguments throws(CommandError) in try send(arguments) })

  private static func send(_ given: ParsedArguments) throws(CommandError) -> ExitStatus {
    let signals = try ProcessSignals()
    endAtOnce(on: signals)
    let arguments = try PasswordPrompt.complete(OptionsFile.expand(CurlText.expand(given)))
    try SendFiles.check(arguments, given.all("options"))
    let plan = try SendPlan(arguments)
    var setup = try SendSetup(arguments)
    if arguments.has("curl") { return try printCommands(plan, setup) }
    // All requests are checked before the engine starts, so that wrong arguments are reported before any plugin is
    // loaded and any request is sent.
    for index in plan.samples where plan.count > 1 { try SendTransfer.check(plan[index], setup) }
    try setup.checkTLS()
    if arguments.has("create-dirs") { try OutputPath.checkNesting(plan, SendFiles.sideFiles(arguments)) }
    let first = try SendTransfer(plan, 0, setup)
    // From now on, signals do not end the process at once; the session will handle them.
    signals.onSignal {}
    let sides = try SendStatus.writing { () throws(CommandError) in
      try SideOutputs(arguments, besides: SendTransfer.inputFile(of: first.request))
    }
    let trace = try timeline(arguments, plan)
    let mask = setup.mask
    setup.configure { configuration in
      if arguments.has("verbose") { VerboseStage(mask: mask).watch(&configuration) }
      // These stages must be added after the verbose stage, which replaces `onSentHead`, the function that gets sent
      // heads. These stages keep the earlier function and call it.
      sides.append(to: &configuration)
      trace?.append(to: &configuration)
    }
    if arguments.has("verbose") {
      LogOutput.adopt(LogOutput.Settings(least: .debug))
    } else if arguments.has("silent") {
      LogOutput.adopt(LogOutput.Settings(least: .error))
    }
    let engine = try EngineStart.engine(setup.configuration, hasCheckedTLS: true, wrap: sides.wrapper)
    let session = SendSession(plan, setup, engine, arguments, signals, sides)
    let progress = try SendProgress(arguments, session)
    var (status, result) = try session.run(first)
    progress?.finish()
    if let trace, let result {
      StandardError.write(Waterfall(trace.timeline, stages: engine.metrics().stages).text(result))
    }
    WaitingThread.run { await engine.shutdown(drain: EngineStart.farewell) }
    // These files are written completely even if the main output has failed.
    if let failure = sides.finish() {
      StandardError.say(failure.message)
      // A request that was cancelled because of the file has failed too.
      if status == .succeeded || status == .failed { status = SendStatus.unwritten(failure).status }
    }
    try setup.cookies?.finish()
    return status
  }

  /// Ends the process at the first signal. Reading the arguments can take long, because it can wait for a pipe or a
  /// person. Nothing that must be shut down has been started yet.
  private static func endAtOnce(on signals: ProcessSignals) {
    signals.onSignal { [signals] in
      PasswordPrompt.restoreTerminal()
      _exit(ExitStatus.interrupted(by: signals.received ?? SIGINT).code)
    }
  }

  private static func printCommands(_ plan: SendPlan, _ setup: SendSetup) throws(CommandError) -> ExitStatus {
    for index in 0..<plan.count {
      let arguments = plan[index]
      let command = CurlText.command(arguments, setup.mask, for: try setup.request(arguments)) + "\n"
      try SendStatus.writing { () throws(CommandError) in try StandardOutput.write(command) }
    }
    return .succeeded
  }

  private static func timeline(_ arguments: ParsedArguments, _ plan: SendPlan) throws(CommandError) -> TimelineRecorder?
  {
    guard arguments.has("trace") else { return nil }
    guard plan.count == 1 else { throw CommandError(.usage, "send: --trace shows one request; give one URL") }
    return TimelineRecorder()
  }
}
