import SluiceMessages
import SluiceSupport

/// The contents that the requests of one `send` share. Each is read once, before the first request is sent, so that a
/// later request cannot fail because a file has changed.
final class SendContents: Sendable {
  /// The contents by the file of `-T`, the only option about contents that applies to a single URL.
  private let known = Locked<[String?: SendData]>([:])

  func data(_ arguments: ParsedArguments, limitBytes: Int) throws(CommandError) -> SendData {
    let upload = arguments["upload-file"]
    if let data = known.withLock({ $0[upload] }) { return data }
    let data = try SendData(arguments, limitBytes: limitBytes, streamsInput: true)
    // A stream can be sent only once, so each request gets its own.
    if data.body.isReplayable { known.withLock { $0[upload] = data } }
    return data
  }
}
