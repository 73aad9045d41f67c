import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePluginHost
import SluiceReplay
import SluiceSupport

/// `sluice replay`.
enum ReplayCommand {
  static let description = CommandDescription(
    "replay", summary: "Compare what an old and a new build do with recorded requests",
    operands: "RECORDING", operandCount: 1...1,
    details: """
      RECORDING is a file that "--record" of send or run has written. Nothing goes over the network: each build runs in
      child processes, twice, with the recorded answers. With -c, --old and --new are libraries that take the place of the
      one in the configuration; if one of them is left out, the library of the configuration is used. Without -c,
      they are two configurations. Call-outs of plugins get their recorded answers. The status is 1 if a request differs,
      if a build fails, or if something was not compared.
      """,
    options: [
      Option("config", "c", "FILE", "The configuration of both builds"),
      Option("old", nil, "FILE", "The old build: a library, or without -c a configuration"),
      Option("new", nil, "FILE", "The new build: a library, or without -c a configuration"),
      Option("name", nil, "NAME", "With -c, the plugin whose library is replaced, if there are several"),
      Option(
        "answer", nil, "JSON|FILE", "Answer call-outs that the recording has no answer to with this response document"),
      Option("document", nil, nil, "Print the report as a JSON document"),
    ], run: { arguments throws(CommandError) in try run(arguments) })

  private static func run(_ arguments: ParsedArguments) throws(CommandError) -> ExitStatus {
    let builds = try ReplayBuilds(arguments)
    let (recordings, isCutOff) = try recordings(arguments.operands[0])
    guard var replay = Replay() else {
      throw CommandError(.failed, "replay: no sluice command was found to run the builds in")
    }
    replay.callOutAnswer = try ValidateCommand.answer(arguments["answer"])
    var report: ReplayReport
    switch WaitingThread.run({ [replay] in await outcome(of: replay, recordings, builds) }) {
    case .success(let made): report = made
    case .failure(let error): throw EngineStart.failure(error)
    }
    if isCutOff {
      let reason = "the last line of \(PlainText.path(arguments.operands[0])) is incomplete"
      report.omissions.append(ReplayReport.Omission(index: recordings.exchanges.count, reason: reason))
    }
    let text = arguments.has("document") ? "\(report.document)" : PrintableText.of(report.text())
    try StandardOutput.write(text + "\n")
    let isWhole = !report.comparisons.isEmpty && recordings.droppedCount == 0
    return report.isSame && isWhole ? .succeeded : .failed
  }

  private static func outcome(
    of replay: Replay, _ recordings: RecordingBuffer, _ builds: ReplayBuilds
  ) async -> Result<ReplayReport, EngineError> {
    do throws(EngineError) {
      return .success(try await replay.compare(recordings.exchanges, old: builds.old, new: builds.new))
    } catch { return .failure(error) }
  }

  private static func recordings(
    _ path: String
  ) throws(CommandError) -> (recordings: RecordingBuffer, isCutOff: Bool) {
    let buffer = RecordingBuffer(maximumCount: Replay.maximumExchanges, maximumBytes: Replay.maximumBytes)
    let (recordings, isCutOff): (RecordingBuffer, Bool)
    do throws(RecordingFile.Failure) {
      (recordings, isCutOff) = try RecordingFile.read(path, into: buffer)
    } catch { throw CommandError(.usage, "replay: \(error)") }
    if recordings.droppedCount > 0 {
      StandardError.say(
        "replay: the first \(Figures.count(recordings.droppedCount)) recordings are left out, because a replay has at most"
          + " \(Figures.count(Replay.maximumExchanges)), and at most \(Replay.maximumBytes >> 20) MiB", .warning)
    }
    return (recordings, isCutOff)
  }
}
