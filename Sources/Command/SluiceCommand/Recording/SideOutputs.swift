import Sluice
import SluiceMessages
import SluicePipeline

/// The files that a command writes in addition to its results.
struct SideOutputs: Sendable {
  static let options = [
    Option("events", nil, "FILE", "Record every event of every transaction here, for \"sluice verify-trace\""),
    Option("har", nil, "FILE", "Write an HTTP Archive (HAR) with an entry for each hop here; secrets are hidden"),
    Option("record", nil, "FILE", "Record each request here, for \"sluice replay\"; secrets are hidden"),
  ]

  private let archive: ArchiveRecorder?
  private let recording: RecordingOutput?
  private let all: [any SideOutput]

  /// - Parameter input: the file that is being read, and that must not be written.
  init(_ arguments: ParsedArguments, besides input: FileIdentity?) throws(CommandError) {
    let events = try EventRecorder.make(arguments, besides: input)
    archive = try ArchiveRecorder.make(arguments, besides: input)
    recording = try RecordingOutput.make(arguments, besides: input)
    let sides: [(any SideOutput)?] = [events, archive, recording]
    all = sides.compactMap(\.self)
  }

  /// Wraps the transport of each loop; nil if no output needs a wrapped transport.
  var wrapper: TransportWrapper? { archive?.wrapper }

  /// Whether nothing is written.
  var isEmpty: Bool { all.isEmpty }

  var hasRoom: Bool { all.allSatisfy(\.hasRoom) }

  /// The given request, with the settings that the outputs need.
  func asked(_ request: Request) -> Request {
    guard recording != nil else { return request }
    var request = request
    request.wantsRecording = true
    return request
  }

  /// Takes the result of a request.
  func note(_ result: TransactionResult) {
    archive?.note(result)
    recording?.append(result)
  }

  func append(to configuration: inout Configuration) {
    for side in all { side.append(to: &configuration) }
  }

  func listen(_ listener: ByteOutput.Listener) {
    for side in all { side.listen(listener) }
  }

  /// Writes the remaining content of each file. Returns the first failure.
  func finish() -> CommandError? {
    let failures = all.compactMap { $0.finish() }
    return failures.first
  }
}
