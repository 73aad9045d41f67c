import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceReplay
import SluiceSupport

/// `--record FILE`: writes a recording of each request, for `sluice replay`.
final class RecordingOutput: SideOutput {
  private struct Item: Sendable {
    let exchange: RecordedExchange
    let secrets: Redactor
  }

  /// The names of all secrets that the configurations of this run hide, including those of reloaded configurations.
  private struct Hidden: Sendable {
    var redaction = RedactionSettings()
    var secrets = Redactor()
  }

  private let file: SideFile<Item>
  private let hidden = Locked(Hidden())
  /// The number of results without a recording.
  private let missing = Locked(0)

  /// Returns nil without the option.
  /// - Parameter input: the file that is being read, and that must not be written.
  static func make(
    _ arguments: ParsedArguments, besides input: FileIdentity?
  ) throws(CommandError) -> RecordingOutput? {
    guard let path = arguments["record"] else { return nil }
    return try RecordingOutput(try PrivateFile.open(path, "--record", besides: input, arguments), path)
  }

  private init(_ descriptor: Int32, _ path: String) throws(CommandError) {
    file = try SideFile(owning: descriptor, name: path, SideFile.Frame()) {
      RecordingFile.line(of: $0.exchange, hiding: $0.secrets)
    }
  }

  func append(to configuration: inout Configuration) {
    hidden.withLock { [new = configuration.redaction] hidden in
      hidden.redaction.headers += new.headers
      hidden.redaction.query += new.query
      hidden.secrets = Redactor(headers: hidden.redaction.headers, query: hidden.redaction.query)
    }
  }

  /// Takes the recording of a result. A result has none if its loop is in a stage that does not return, or if its
  /// request was refused before it began. Can be called on any thread.
  func append(_ result: TransactionResult) {
    guard let exchange = result.recording else { return missing.withLock { $0 += 1 } }
    file.append(Item(exchange: exchange, secrets: hidden.withLock { $0.secrets }), bytes: exchange.byteCount)
  }

  func listen(_ listener: ByteOutput.Listener) { file.listen(listener) }

  var hasRoom: Bool { file.hasRoom }

  func finish() -> CommandError? {
    let missing = missing.withLock { $0 }
    if missing > 0 {
      let (requests, have) = missing == 1 ? ("request", "has") : ("requests", "have")
      StandardError.say(
        "\(Figures.count(missing)) \(requests) \(have) no recording, because a stage did not return, or the request"
          + " was not begun", .warning)
    }
    guard let failure = file.finish() else { return nil }
    return CommandError(.failed, "\(failure.description); the recording is incomplete")
  }
}
