import Sluice
import SluiceAssembly
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// `--har FILE`: writes an HTTP Archive with an entry for each hop.
///
///     Transaction ── ArchiveHopRecorder ── transport      the bytes: heads, bodies
///          │ events     │
///          └── ArchiveStage ──► SideFile ──► EntryText, on the writer's thread
final class ArchiveRecorder: SideOutput {
  private struct Item: Sendable {
    let hop: ArchivedHop
    let mask: SecretMask
  }

  private let file: SideFile<Item>
  /// The `HopCorrelation` of each loop, by the index of the loop. All of them exist when the engine starts.
  private let correlations = Locked<[Int: HopCorrelation]>([:])
  /// The number of results whose loop is in a stage that does not return. Their current hop has no entry.
  private let stalled = Locked(0)

  /// Returns nil if the option is not given.
  /// - Parameter input: the file that is being read, which must not be written.
  static func make(
    _ arguments: ParsedArguments, besides input: FileIdentity?
  ) throws(CommandError) -> ArchiveRecorder? {
    guard let path = arguments["har"] else { return nil }
    return try ArchiveRecorder(try PrivateFile.open(path, "--har", besides: input, arguments), path)
  }

  private init(_ descriptor: Int32, _ path: String) throws(CommandError) {
    let frame = SideFile<Item>.Frame(
      opening: Array(
        #"{"log":{"version":"1.2","creator":{"name":"sluice","version":"\#(Engine.version)"},"entries":["#.utf8)
        + [0x0A],
      separator: Array(",\n".utf8), closing: Array("\n]}}\n".utf8))
    file = try SideFile(owning: descriptor, name: path, frame) { EntryText.make($0.hop, $0.mask) }
  }

  /// Wraps the transport of each loop.
  var wrapper: TransportWrapper {
    { [correlations] loop, transport in
      let hops = HopCorrelation()
      correlations.withLock { $0[loop.index] = hops }
      return ArchiveTransport(transport, hops)
    }
  }

  func append(to configuration: inout Configuration) {
    let mask = SecretMask(configuration.redaction)
    let stage = ArchiveStage(hops: { [correlations] index in correlations.withLock { $0[index] } }) { [file] hop in
      file.append(Item(hop: hop, mask: mask), bytes: hop.heldBytes)
    }
    configuration.addStage("--har", StageCode(direct: stage, isTrusted: true))
    let earlier = configuration.transport.onSentHead
    configuration.transport.onSentHead = { [correlations] head in
      earlier?(head)
      guard let index = Loop.currentIndex else { return }
      correlations.withLock { $0[index] }?.didSend(head)
    }
  }

  /// Can be called on any thread.
  func note(_ result: TransactionResult) {
    if result.error?.code == .stalled { stalled.withLock { $0 += 1 } }
  }

  func listen(_ listener: ByteOutput.Listener) { file.listen(listener) }

  var hasRoom: Bool { file.hasRoom }

  func finish() -> CommandError? {
    let stalled = stalled.withLock { $0 }
    if stalled > 0 {
      StandardError.say(
        "the archive is not complete: \(Figures.count(stalled)) \(stalled == 1 ? "request" : "requests") failed with"
          + " stalled, and the current hop of such a request has no entry", .warning)
    }
    guard let failure = file.finish() else { return nil }
    return CommandError(.failed, "\(failure.description); the archive is incomplete")
  }
}
