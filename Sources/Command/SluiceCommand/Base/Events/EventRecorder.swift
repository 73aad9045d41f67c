import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline

/// `--events FILE`: writes every event of every transaction to a file, one event on each line.
///
/// No event is left out: if the file is slower than the traffic, `run` begins no request until there is room again.
final class EventRecorder: SideOutput {
  private let output: ByteOutput

  /// Returns nil without the option. Events can be written to standard output if the results are written to a file.
  /// - Parameter input: the input file. Events must not be written to it.
  static func make(
    _ arguments: ParsedArguments, besides input: FileIdentity? = nil
  ) throws(CommandError) -> EventRecorder? {
    guard let path = arguments["events"] else { return nil }
    if StandardOutput.isNamed(by: path), StandardOutput.isNamed(by: arguments["output"] ?? "-") {
      throw CommandError(
        .usage, "--events \(path): standard output already gets the results; send them elsewhere with -o FILE")
    }
    try check(path, isNot: arguments["output"])
    let recorder = EventRecorder(
      try ByteOutput(path: path, besides: input, patience: OutputPatience.reader(arguments)))
    // Two names can lead to the same new file. This is known only after the file exists.
    try check(path, isNot: arguments["output"])
    return recorder
  }

  private static func check(_ path: String, isNot output: String?) throws(CommandError) {
    guard let output, !StandardOutput.isNamed(by: output) else { return }
    guard path == output || FileIdentity(at: path).map({ $0 == FileIdentity(at: output) }) ?? false else { return }
    throw CommandError(.usage, "--events \(PlainText.path(path)) is also the output; name another file")
  }

  private init(_ output: ByteOutput) { self.output = output }

  /// Adds the tracer that writes the events, as the last tracer. It hides the secrets that the configuration hides.
  func append(to configuration: inout Configuration) {
    let secrets = SecretMask(configuration.redaction).secrets
    let code = StageCode(isTrusted: true) { [output] in output.append(EventLine.make($0, secrets)) }
    configuration.addStage("--events", code)
  }

  /// Sets the listener that is told when the output has room again, and when it fails. Must be called before the first
  /// event.
  func listen(_ listener: ByteOutput.Listener) { output.listen(listener) }

  var hasRoom: Bool { output.hasRoom }

  /// Writes the remaining events. Must be called once, when the engine has ended. Returns any failure since the
  /// beginning.
  func finish() -> CommandError? {
    guard let failure = output.finish() else { return nil }
    return CommandError(.failed, "\(failure.description); the event log is incomplete")
  }
}
