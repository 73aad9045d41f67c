import Glibc
import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluicePluginHost
import SluiceSupport

/// `sluice run`.
enum RunCommand {
  static let description = CommandDescription(
    "run", summary: "Run request documents, one on each line, and print a result document for each",
    operandAdvice: "name the file of requests with -i, and the configuration with -c",
    details: """
      A line is a request document with an optional "id" and "timeout", or a URL. Results come in the order of completion; each
      has the "id" of its request, or the number of its line. An invalid line gets an error result, and the run
      continues. SIGINT and SIGTERM end the run after the requests in flight; a second signal ends it at once.
      SIGHUP reads the configuration again: requests in flight continue, new ones run through the new pipeline.
      TRACEPARENT, TRACESTATE and BAGGAGE in the environment are the parent trace context.
      """,
    options: [
      Option("config", "c", "FILE", "The configuration of the pipeline"),
      Option("input", "i", "FILE", "Read requests from here (default: standard input)"),
      Option("request", "X", "METHOD", "The method of lines that name none (default GET)"),
      Option(
        "header", "H", "\"NAME: VALUE\"", takesBytes: true,
        "Add a header to each line without it; \"NAME:\" removes a default header, @FILE reads headers; may be repeated"
      ),
      Option("from-har", nil, "FILE", "Send the requests of this HTTP Archive (HAR), in place of --input"),
      Option("output", "o", "FILE", "Write results to this file, emptied first (default: standard output)"),
      Option(
        "resume", nil, nil,
        "Keep the results that the output file already has, and send only the lines without one"),
      Option("concurrency", nil, "N", "Maximum number of requests in flight (default 64)"),
      Option("rate", nil, "N/s", "Maximum number of requests started per second"),
      Option("max-per-host", nil, "N", "Maximum number of requests in flight to one host"),
      Option("rate-per-host", nil, "N/s", "Maximum number of requests started per second to one host"),
      Option("drain", nil, "DURATION", "When interrupted, time for requests in flight to finish (default 30s)"),
    ] + SideOutputs.options + [
      Option("json-bodies", nil, nil, "Give the bodies of responses as JSON if they are JSON"),
      Option("metadata", nil, nil, "Add to each result the original and the sent request, the final URL and timings"),
      PluginArguments.option,
    ] + EngineServices.options + LogOutput.options + [
      Option("no-progress", nil, nil, "Show no progress bar on a terminal"),
      Option("quiet", "q", nil, "Show neither progress nor summary"),
    ], run: { arguments throws(CommandError) in try run(arguments) })

  /// How long plugins can write their data if requests are still in flight after the drain time.
  private static let lastMoment = Duration.milliseconds(250)

  private static func run(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    LogOutput.adopt(try LogOutput.Settings(arguments))
    let settings = try RunSettings(arguments)
    let signals = try ProcessSignals(takesHangUp: settings.engine.file != nil, drain: settings.drain)
    let input = try input(arguments, settings)
    let inputFile = settings.archived?.file ?? input.file
    let mark = UnfinishedMark(output: arguments["output"], input: input)
    if !arguments.has("resume") { try mark.check() }
    let earlier = try earlierOutput(arguments, settings, besides: inputFile, signals)
    var resumed = earlier.map { ResumedInput($0, input) }
    if input.file != nil { try resumed?.check(input) { signals.received } }
    raiseDescriptorLimit(for: settings)
    try TaskPool.start()
    settings.archived?.notices.say(isQuiet: arguments.has("quiet"))
    let sides = try SideOutputs(arguments, besides: inputFile)
    var configuration = settings.configuration
    sides.append(to: &configuration)
    try checkPlaces(arguments, settings, besides: inputFile)
    let engine = try EngineStart.engine(configuration, updates: .followed, wrap: sides.wrapper)
    let output: ByteOutput
    do { output = try Self.output(arguments, after: earlier, besides: inputFile) } catch {
      WaitingThread.run { await engine.shutdown(drain: .zero) }
      throw error
    }
    mark.set()
    let session = RunSession(settings, engine, input, output, sides, resumed: resumed)
    let isQuiet = arguments.has("quiet")
    signals.onSignal {
      session.stop()
      engine.endIsNear()
      if !isQuiet { sayInterrupted(session.inFlight, settings.drain) }
    }
    let reload = EngineReload(
      of: settings.engine.file, engine, complete: settings.engine.complete, add: sides.append,
      didApply: { session.adopt($0.redaction) })
    signals.onHangUp { reload.reload() }
    let services = try EngineServices(engine, settings.places, reload, isQuiet: isQuiet)
    let progress = try LiveLine(arguments) { RunProgress(session, engine, input, $0) }
    let started = MonotonicClock.now
    let inputFailure = session.feed()
    let isWhole = signals.received == nil && session.outputFailure == nil && session.sideFailure == nil
    session.waitForResults(upTo: settings.drain)
    // Plugins can write their buffered data for this time. Requests that are still in flight when it ends fail.
    let rest = session.inFlight == 0 ? settings.drain : Self.lastMoment
    WaitingThread.run { await engine.shutdown(drain: rest) }
    session.waitForResults()
    services.stop()
    let outputFailure = output.finish()
    let sideFailure = sides.finish()
    if isWhole, inputFailure == nil, outputFailure == nil { mark.remove() }
    progress?.finish()
    if !arguments.has("quiet") {
      let summary = RunSummary(
        session.counts, engine.metrics(), engine.schedules, duration: MonotonicClock.now - started)
      summary.show(isWhole: isWhole)
      if signals.received != nil, !isWhole, let path = arguments["output"], OutputTarget(at: path) == .file {
        StandardError.say("to send the lines that have no result, run the same command with --resume", .info)
      }
    }
    return try status(session, outputFailure, sideFailure, inputFailure, signals)
  }

  private static func sayInterrupted(_ inFlight: Int, _ drain: Duration) {
    guard inFlight > 0 else { return }
    let limit = Figures.time(nanoseconds: drain.nanoseconds)
    StandardError.say(
      "interrupted: waiting at most \(limit) for \(inFlight) requests in flight; a second signal ends at once", .info)
  }

  private static func input(
    _ arguments: ParsedArguments, _ settings: RunSettings
  ) throws(CommandError) -> InputLines {
    if let archived = settings.archived { return archived.input }
    return try InputLines(path: arguments["input"], limitBytes: settings.lineLimitBytes)
  }

  /// Returns nil without `--resume`.
  private static func earlierOutput(
    _ arguments: ParsedArguments, _ settings: RunSettings, besides input: FileIdentity?, _ signals: ProcessSignals
  ) throws(CommandError) -> ResumedOutput? {
    guard arguments.has("resume") else { return nil }
    return try ResumedOutput(
      path: arguments["output"], besides: input, lineLimitBytes: settings.resultLimitBytes,
      interruptedBy: { signals.received })
  }

  private static func output(
    _ arguments: ParsedArguments, after earlier: ResumedOutput?, besides input: FileIdentity?
  ) throws(CommandError) -> ByteOutput {
    guard let earlier else { return try ByteOutput(path: arguments["output"], besides: input) }
    let incomplete = earlier.incompleteBytes
    let output = try earlier.output()
    if incomplete > 0, !arguments.has("quiet") {
      StandardError.say("\(PlainText.path(earlier.path)): removed \(incomplete) bytes of an incomplete result", .info)
    }
    return output
  }

  /// Checks the places that can be used only after the engine has started. Its plugins and updates can send requests,
  /// so a wrong option must be found before.
  private static func checkPlaces(
    _ arguments: ParsedArguments, _ settings: RunSettings, besides input: FileIdentity?
  ) throws(CommandError) {
    if let path = arguments["output"], !arguments.has("resume"), !StandardOutput.isNamed(by: path) {
      try OutputFile.check(OutputName(path), besides: input)
    }
    try settings.places.check()
  }

  /// The descriptors that a run can need besides one for each request in flight: for files, loops and plugins, and for
  /// idle connections.
  private static let otherDescriptors = 256

  /// Over HTTP/1.1, each request in flight needs a connection, which needs a descriptor.
  private static func raiseDescriptorLimit(for settings: RunSettings) {
    let needed = settings.concurrency + otherDescriptors
    let limit = DescriptorLimit.raise(to: needed)
    guard limit.soft < needed else { return }
    StandardError.say(
      "this run can need \(needed) descriptors (\(settings.concurrency) for --concurrency, \(otherDescriptors) for files,"
        + " plugins and kept connections), but only \(limit.soft) are allowed; raise the hard limit (ulimit -Hn)"
        + (settings.concurrency > 1 ? ", or lower --concurrency" : ""), .warning)
  }

  private static func status(
    _ session: RunSession, _ outputFailure: ByteOutput.Failure?, _ sideFailure: CommandError?,
    _ inputFailure: CommandError?, _ signals: ProcessSignals
  ) throws(CommandError) -> ExitStatus {
    if let outputFailure {
      if outputFailure.isBrokenPipe { return .brokenPipe }
      throw CommandError(.failed, outputFailure.description)
    }
    if let sideFailure { throw sideFailure }
    if let signal = signals.received { return .interrupted(by: signal) }
    if let inputFailure { throw inputFailure }
    return session.counts.failed + session.counts.keptFailed == 0 ? .succeeded : .failed
  }
}
