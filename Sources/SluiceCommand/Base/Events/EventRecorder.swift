import Sluice
import SluicePipeline

/// `--events FILE`: writes every event of every transaction to a file, one a line.
///
/// Nothing is left out: where the file is slower than the traffic, `run` begins no request until there is room again.
final class EventRecorder: Sendable {
  private let output: ByteOutput

  /// Nil without the option. Standard output can take the events where the results go elsewhere.
  /// - Parameter input: what is read meanwhile, and cannot take the events.
  static func make(
    _ arguments: ParsedArguments, besides input: FileIdentity? = nil
  ) throws(CommandError) -> EventRecorder? {
    guard let path = arguments["events"] else { return nil }
    if StandardOutput.isNamed(by: path), StandardOutput.isNamed(by: arguments["output"] ?? "-") {
      throw CommandError(
        .usage, "--events \(path): standard output takes the results already; send them elsewhere with -o FILE")
    }
    return EventRecorder(try ByteOutput(path: path, besides: input))
  }

  private init(_ output: ByteOutput) { self.output = output }

  /// Adds the tracer that writes, as the last one; it hides what the configuration wants hidden.
  func append(to configuration: inout Configuration) {
    let mask = SecretMask(configuration.redaction)
    let code = StageCode(isTrusted: true) { [output] in output.append(EventLine.make($0, mask)) }
    configuration.append(code, named: "--events")
  }

  /// Tells of room and of failures; before the first event.
  func listen(_ listener: ByteOutput.Listener) { output.listen(listener) }

  var hasRoom: Bool { output.hasRoom }

  /// Writes what is left, once, when the engine has ended; gives what went wrong at any time.
  func finish() -> CommandError? {
    guard let failure = output.finish() else { return nil }
    return CommandError(.failed, "\(failure.description); the event log is not whole")
  }
}
