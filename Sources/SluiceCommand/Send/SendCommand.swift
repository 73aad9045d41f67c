import Glibc
import Sluice
import SluiceMessages
import SluiceMetrics
import SluicePipeline
import SluicePluginImage
import SluiceSupport
import SluiceTraceContext

/// `sluice send`.
enum SendCommand {
  static let description = CommandDescription(
    "send", summary: "Send one request through the pipeline and print the response's body",
    operands: "[METHOD] URL", operandCount: 1...2,
    details: """
      The method is GET, or POST if there is data. A relative URL starts from "transport.baseURL" of the
      configuration; "localhost:8080/x", and without a configuration any other URL that has no scheme, means http.
      Redirects are followed. The body is printed even if the request fails; the status is then 1.
      TRACEPARENT, TRACESTATE and BAGGAGE in the environment are the parent trace context.
      """,
    options: contentOptions + requestOptions + hopOptions + outputOptions + pipelineOptions + transportOptions,
    run: { arguments throws(CommandError) in try send(arguments) })

  /// What the request is.
  static let contentOptions = [
    Option("request", "X", "METHOD", "The method"),
    Option(
      "header", "H", "\"NAME: VALUE\"", takesBytes: true,
      "Add a header; \"NAME:\" removes a default header; may be repeated"),
    Option(
      "data", "d", "DATA", takesBytes: true,
      "Send form data; @FILE and @- read it, without line ends; repeats are joined by &"),
    Option("data-binary", nil, "DATA", takesBytes: true, "Send this data unchanged; @FILE and @- read it"),
  ]
  private static let requestOptions = [
    Option("head", "I", nil, "Send HEAD and print the response's head")
  ]
  private static let hopOptions = [
    Option(
      "user", "u", "USER:PASSWORD", takesBytes: true, "Send these as Basic, and as Digest if the server asks for it"),
    Option("digest", nil, nil, "With -u, send them only as Digest"),
    Option("anyauth", nil, nil, "With -u, send Basic or Digest only when the server asks for it"),
    Option("location", "L", nil, "Follow redirects (the default, unless the configuration says otherwise)"),
    Option("max-redirs", nil, "N", "Follow at most N redirects (default 20); 0 prints the redirect itself"),
  ]
  private static let outputOptions = [
    Option("output", "o", "FILE", "Write the body to this file while it arrives"),
    Option("include", "i", nil, "Print the response's head before the body"),
    Option("json", nil, nil, "Print a result document, as \"sluice run\" does"),
    Option("metadata", nil, nil, "With --json, add the original and the sent request, the final URL and timings"),
    Option("explain", nil, nil, "Explain why each header that stages could set was sent or not"),
    Option("events", nil, "FILE", "Record every event of the transaction here, for \"sluice verify-trace\""),
    Option("silent", "s", nil, "Print nothing on standard error"),
    Option("show-error", "S", nil, "With -s, still print why the request failed"),
    Option("verbose", "v", nil, "Show the sent and received heads; secrets are hidden"),
    Option("trace", nil, nil, "Show where the time went: phases of the exchange and stages"),
  ]
  private static let pipelineOptions = [
    Option("config", "c", "FILE", "The configuration of the pipeline"),
    Option("plugin", nil, "LIBRARY[=JSON]", "Add a plugin to each list that it has callbacks for; may be repeated"),
  ]
  private static let transportOptions = [
    Option("timeout", "m", "DURATION", "Limit the whole request (500ms, 30s, 2m; 8 is 8s, 0 is no limit)"),
    Option("connect-timeout", nil, "DURATION", "Limit the time until the connection is established (default: 5s)"),
    Option("insecure", "k", nil, "Accept any certificate"),
    Option("cacert", nil, "FILE", "Trust these authorities (PEM) instead of the system's"),
    Option("http1.1", nil, nil, "Use HTTP/1.1"),
    Option("http2", nil, nil, "Offer HTTP/2 over TLS"),
    Option("http2-prior-knowledge", nil, nil, "Speak HTTP/2, in clear text too, without asking"),
    Option("proxy", "x", "URL", "Use this proxy; \"\" uses none"),
  ]

  private static func send(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let interruption = try Interruption()
    var configuration = try SendConfiguration.make(arguments)
    var request = try SendRequest(arguments, configuration).make()
    request.wantsExplanation = arguments.has("explain")
    let mask = SecretMask(configuration.redaction)
    let input = inputFile(of: request)
    let recorder = try EventRecorder.make(arguments, besides: input)
    recorder?.append(to: &configuration)
    if arguments.has("verbose") { VerboseStage(mask: mask).watch(&configuration) }
    let trace = arguments.has("trace") ? TimelineRecorder() : nil
    trace?.append(to: &configuration)
    if arguments.has("verbose") { LogOutput.adopt(LogOutput.Settings(least: .debug)) }
    let engine = try EngineStart.engine(configuration)
    let output = try SendOutput(arguments, mask, besides: input)
    let result = perform(request, engine, output, interruption)
    if let explanation = result.explanation, !arguments.has("json") {
      StandardError.write(ExplanationText.of(explanation))
    }
    if let trace {
      StandardError.write(Waterfall(trace.timeline, stages: engine.metrics().stages).text(result))
    }
    WaitingThread.run { await engine.shutdown(drain: EngineStart.farewell) }
    // The event log is written completely, even if the output has failed.
    let eventLog = recorder?.finish()
    let ending = try output.finish(result) ?? eventLog
    return status(result, output, ending, arguments, interruption)
  }

  /// The file that is read while it is sent.
  private static func inputFile(of request: Request) -> FileIdentity? {
    guard case .file(let file) = request.body else { return nil }
    return FileIdentity(at: file.path)
  }

  private static func perform(
    _ request: Request, _ engine: Engine, _ output: SendOutput, _ interruption: Interruption
  ) -> TransactionResult {
    let done = Monitor<TransactionResult?>(nil)
    let cancellation = output.cancellation
    interruption.onSignal { cancellation.cancel() }
    engine.submit(request, parent: EngineStart.extraction.parent, sink: output.sink, cancellation: cancellation) {
      result in
      done.withLock { $0 = result }
      done.broadcast()
    }
    return done.wait { $0 }
  }

  private static func status(
    _ result: TransactionResult, _ output: SendOutput, _ failure: CommandError?, _ arguments: ParsedArguments,
    _ interruption: Interruption
  ) -> ExitStatus {
    if let failure {
      StandardError.say(failure.message)
      return failure.status
    }
    if let signal = interruption.received { return .interrupted(by: signal) }
    guard let error = result.error else { return .succeeded }
    if !arguments.has("silent") || arguments.has("show-error") {
      StandardError.say(PrintableText.of(error.description))
      if let path = arguments["output"], output.isCutOff(result) { StandardError.say("\(path) is not whole") }
    }
    return .failed
  }
}
