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
    operands: "[METHOD] URL", operandCount: 0...2,
    details: """
      The method is GET, or POST if there is data. A relative URL starts from "transport.baseURL" of the
      configuration; "localhost:8080/x", and without a configuration any other URL that has no scheme, means http.
      Redirects are followed. The body is printed even if the request fails. Exit statuses are those of curl.
      TRACEPARENT, TRACESTATE and BAGGAGE in the environment are the parent trace context.
      """,
    options: [Option("url", nil, "URL", "The URL, in place of the operand")] + contentOptions + requestOptions
      + hopOptions + outputOptions + pipelineOptions + transportOptions,
    run: { arguments throws(CommandError) in try send(arguments) })

  /// What the request is.
  static let contentOptions = [
    Option("request", "X", "METHOD", "The method"),
    Option(
      "header", "H", "\"NAME: VALUE\"", takesBytes: true,
      "Add a header; \"NAME:\" removes a default header; may be repeated"),
    Option(
      "data", "d", "DATA", takesBytes: true, aliases: ["data-ascii"],
      "Send form data; @FILE and @- read it, without line ends; repeats are joined by &"),
    Option("data-binary", nil, "DATA", takesBytes: true, "Send this data unchanged; @FILE and @- read it"),
    Option("data-raw", nil, "DATA", takesBytes: true, "Like -d, but a leading @ has no meaning"),
    Option(
      "data-urlencode", nil, "DATA", takesBytes: true,
      "Like -d, percent-encoded: CONTENT, =CONTENT, NAME=CONTENT, @FILE or NAME@FILE"),
    Option(
      "json", nil, "DATA", takesBytes: true,
      "Send this as JSON, and accept JSON; @FILE and @- read it, repeats are joined"),
    Option("get", "G", nil, "Append the data to the URL's query, and send GET"),
    Option(
      "form", "F", "NAME=VALUE", takesBytes: true,
      "Send a form with this field; @FILE sends a file, <FILE its content; ;type= and ;filename= may follow"),
    Option("form-string", nil, "NAME=VALUE", takesBytes: true, "Like -F, but @, < and ; have no meaning"),
    Option("upload-file", "T", "FILE", "Send this file with PUT; - reads it. A URL that ends with / gets its name"),
    Option("user-agent", "A", "TEXT", takesBytes: true, "The User-Agent; \"\" sends none"),
    Option("referer", "e", "URL", takesBytes: true, "The Referer"),
    Option("cookie", "b", "NAME=VALUE", takesBytes: true, "Send these cookies"),
    Option("range", "r", "RANGE", takesBytes: true, "Ask for these bytes: 0-99, 100-, -5"),
    Option("oauth2-bearer", nil, "TOKEN", takesBytes: true, "Send this token as Authorization: Bearer"),
    Option("compressed", nil, nil, "Ask for compressed content and decode it (the default)"),
    Option("no-compressed", nil, nil, "Do not ask for compressed content, and do not decode it"),
  ]
  private static let requestOptions = [
    Option("head", "I", nil, "Send HEAD and print the response's head"),
    Option("globoff", "g", nil, "Take [] and {} in the URL as they are (always)"),
    Option(
      "from-curl", nil, "COMMAND", takesBytes: true,
      "Send the request of this curl command; - reads it from standard input"),
    Option("curl", nil, nil, "Print the curl command for this request, without secrets, and send nothing"),
  ]
  private static let hopOptions = [
    Option(
      "user", "u", "USER:PASSWORD", takesBytes: true, "Send these as Basic, and as Digest if the server asks for it"),
    Option("digest", nil, nil, "With -u, send them only as Digest"),
    Option("anyauth", nil, nil, "With -u, send Basic or Digest only when the server asks for it"),
    Option("location", "L", nil, "Follow redirects (the default, unless the configuration says otherwise)"),
    Option("no-location", nil, nil, "Follow no redirects: print the redirect itself"),
    Option("max-redirs", nil, "N", "Follow at most N redirects (default 20); 0 prints the redirect itself"),
  ]
  private static let outputOptions = [
    Option("output", "o", "FILE", "Write the body to this file while it arrives"),
    Option("remote-name", "O", nil, "Write the body to a file with the last component of the URL's path as its name"),
    Option("output-dir", nil, "DIR", "The folder for the file of -o or -O"),
    Option("create-dirs", nil, nil, "Create the folders that the output file needs"),
    Option(
      "write-out", "w", "FORMAT",
      "Print this at the end: %{http_code}, %{time_total}, %header{NAME}, \\n; @FILE reads it"),
    Option("fail", "f", nil, "Print no body if the status is 400 or above"),
    Option("fail-with-body", nil, nil, "Print the body, and fail, if the status is 400 or above (the default)"),
    Option("no-fail", nil, nil, "Do not fail if the status is 400 or above"),
    Option("include", "i", nil, "Print the response's head before the body"),
    Option("document", nil, nil, "Print a result document, as \"sluice run\" does"),
    Option("metadata", nil, nil, "With --document, add the original and the sent request, the final URL and timings"),
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
    Option(
      "max-time", "m", "DURATION", aliases: ["timeout"],
      "Limit the whole request (500ms, 30s, 2m; 8 is 8s, 0 is no limit)"),
    Option("connect-timeout", nil, "DURATION", "Limit the time until the connection is established (default: 5s)"),
    Option("insecure", "k", nil, "Accept any certificate"),
    Option("cacert", nil, "FILE", "Trust these authorities (PEM) instead of the system's"),
    Option("cert", "E", "FILE", "Send this client certificate (PEM)"),
    Option("key", nil, "FILE", "The key of the client certificate (default: in the same file)"),
    Option("unix-socket", nil, "PATH", "Connect to this Unix socket, whatever the URL"),
    Option("retry", nil, "N", "Send up to N times more if the answer is 408, 429, 500, 502, 503 or 504"),
    Option("retry-connrefused", nil, nil, "With --retry, also if there is no connection, or it breaks"),
    Option(
      "retry-delay", nil, "DURATION",
      "With --retry, wait this long each time (default: 1s, and twice as long each time)"),
    Option("http1.1", nil, nil, "Use HTTP/1.1"),
    Option("http2", nil, nil, "Offer HTTP/2 over TLS"),
    Option("http2-prior-knowledge", nil, nil, "Speak HTTP/2, in clear text too, without asking"),
    Option("proxy", "x", "URL", "Use this proxy; \"\" uses none"),
  ]

  private static func send(_ given: ParsedArguments) throws(CommandError) -> ExitStatus {
    let interruption = try Interruption()
    let arguments = try CurlText.expand(given)
    var configuration = try SendConfiguration.make(arguments)
    var request = try SendRequest(arguments, configuration).make()
    request.wantsExplanation = arguments.has("explain")
    let mask = SecretMask(configuration.redaction)
    if arguments.has("curl") {
      try StandardOutput.write(CurlText.command(arguments, mask, for: request) + "\n")
      return .succeeded
    }
    let input = inputFile(of: request)
    let recorder = try EventRecorder.make(arguments, besides: input)
    recorder?.append(to: &configuration)
    if arguments.has("verbose") { VerboseStage(mask: mask).watch(&configuration) }
    let trace = arguments.has("trace") ? TimelineRecorder() : nil
    trace?.append(to: &configuration)
    if arguments.has("verbose") { LogOutput.adopt(LogOutput.Settings(least: .debug)) }
    let engine = try EngineStart.engine(configuration)
    let output = try SendOutput(arguments, mask, besides: input)
    let writeOut = try WriteOut.make(arguments)
    let hops = HopList()
    let result = perform(request, engine, output, hops, interruption)
    if let explanation = result.explanation, !arguments.has("document") {
      StandardError.write(ExplanationText.of(explanation))
    }
    if let trace {
      StandardError.write(Waterfall(trace.timeline, stages: engine.metrics().stages).text(result))
    }
    WaitingThread.run { await engine.shutdown(drain: EngineStart.farewell) }
    // The event log is written completely, even if the output has failed.
    let eventLog = recorder?.finish()
    let ending = try output.finish(result) ?? eventLog
    let status = status(result, output, ending, arguments, interruption)
    try writeOut?.write(result, hops.all, file: output.path, status)
    return status
  }

  /// The file that is read while it is sent.
  private static func inputFile(of request: Request) -> FileIdentity? {
    guard case .file(let file) = request.body else { return nil }
    return FileIdentity(at: file.path)
  }

  private static func perform(
    _ request: Request, _ engine: Engine, _ output: SendOutput, _ hops: HopList, _ interruption: Interruption
  ) -> TransactionResult {
    let done = Monitor<TransactionResult?>(nil)
    let cancellation = output.cancellation
    interruption.onSignal { cancellation.cancel() }
    engine.submit(
      request, parent: EngineStart.extraction.parent, sink: output.sink, delegate: hops, cancellation: cancellation
    ) {
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
    if arguments.has("no-fail"), error.code == .status, result.response != nil { return .succeeded }
    if !arguments.has("silent") || arguments.has("show-error") {
      StandardError.say(PrintableText.of(error.description))
      if let path = output.path, output.isCutOff(result) { StandardError.say("\(path) is not whole") }
    }
    return SendStatus.of(error)
  }
}
