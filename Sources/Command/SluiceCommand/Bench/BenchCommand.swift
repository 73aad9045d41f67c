import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceServer
import SluiceSupport
import SluiceTransport

/// `sluice bench`.
enum BenchCommand {
  static let description = CommandDescription(
    "bench", summary: "Measure what the pipeline costs each request",
    operands: "[URL]", operandCount: 0...1,
    details: """
      Sends the same request again and again, in alternating rounds through the pipeline and without its stages, and
      prints requests per second, processor time, latency, the time in each stage, and the cost of the stages. Without
      URL, the requests go to a server inside this process, which answers with the request. Processor time is that of
      the engine's one loop: threads of plugins and of the server are not counted. SIGINT and SIGTERM end the run; the
      result then covers the finished rounds.
      """,
    options: SendOptions.content + [
      Option(
        "requests", "n", "N",
        "Requests in a round (default 10000); a quarter as many are sent before the first round, as a warm-up"),
      Option("connections", nil, "N", "Requests in flight at a time (default 32)"),
      Option("rounds", nil, "N", "Rounds through each of the two pipelines (default 5)"),
      Option("document", nil, nil, "Print the result as a JSON document"),
      Option("quiet", "q", nil, "Show no progress"),
      Option("config", "c", "FILE", "The configuration of the pipeline"),
      PluginArguments.option,
      Option(
        "max-time", "m", "DURATION", aliases: ["timeout"], "Limit each request (500ms, 30s, 2m; 8 is 8s, 0 is no limit)"
      ),
      Option("insecure", "k", nil, "Accept any certificate"),
      Option("cacert", nil, "FILE", "Trust these authorities (PEM) instead of the system's"),
      Option("http1.1", nil, nil, "Use HTTP/1.1"),
      Option("http2", nil, nil, "Offer HTTP/2 over TLS"),
      Option("http2-prior-knowledge", nil, nil, "Use HTTP/2 in clear text without negotiation, and offer it over TLS"),
    ], run: { arguments throws(CommandError) in try run(arguments) })

  private static func run(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let signals = try ProcessSignals()
    let configuration = try SendConfiguration.make(arguments)
    let plan = try BenchPlan(arguments, limit: configuration.limits.transactions)
    DescriptorLimit.raise(to: plan.connections * 4 + 256)
    try TaskPool.start()
    let server = arguments.operands.isEmpty ? try startServer() : nil
    if server != nil { excludeServerFromProxy() }
    defer { server?.stop() }
    let request = try SendRequest(
      arguments, configuration, command: "bench", url: server.map { "\($0.baseURL)/" }
    ).make()
    let session = try BenchSession(plan, configuration, request)
    signals.onSignal { session.stop() }
    let progress = BenchProgress(isQuiet: arguments.has("quiet"))
    let outcome = session.run { progress.show(round: $0, of: plan.rounds) }
    progress.finish()
    let report = BenchReport(plan, request, SecretMask(configuration.redaction), session)
    session.shutdown()
    if session.hasWholeRound {
      try StandardOutput.write(try arguments.has("document") ? json(report) : report.text)
    }
    if let signal = signals.received { return .interrupted(by: signal) }
    guard case .failed(let message) = outcome else { return .succeeded }
    throw CommandError(.failed, "bench: \(message)")
  }

  private static func json(_ report: BenchReport) throws(CommandError) -> String {
    do { return try report.document.serializedText() + "\n" } catch {
      throw CommandError(.failed, "the result cannot be written: \(error)")
    }
  }

  /// Lets no proxy carry requests to the command's own server, which a proxy may not reach. Other hosts, for instance
  /// those to which plugins send requests, keep their proxy.
  private static func excludeServerFromProxy() {
    let others = ProxyRules.environment("no_proxy", "NO_PROXY") ?? ""
    if others != "*" { setenv("no_proxy", "127.0.0.1,\(others)", 1) }
  }

  private static func startServer() throws(CommandError) -> EmbeddedServer {
    let handler = EchoHandler()
    do { return try EmbeddedServer { handler.respond(to: $0) } } catch { throw CommandError(.failed, "\(error)") }
  }
}

/// A line on a terminal that names the current round.
private struct BenchProgress {
  private static let clearLine = "\r\u{1B}[K"
  private let isShown: Bool

  init(isQuiet: Bool) { isShown = !isQuiet && Terminal.standardError.isTerminal }

  func show(round: Int, of count: Int) {
    if isShown { StandardError.write("\(Self.clearLine)round \(round) of \(count)") }
  }

  /// Removes the line.
  func finish() {
    if isShown { StandardError.write(Self.clearLine) }
  }
}
