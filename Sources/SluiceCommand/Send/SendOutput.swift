import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// Where the response of `send` goes: streamed to a file or to standard output, or as a document at the end.
struct SendOutput {
  let cancellation = Cancellation()
  private let bytes: ByteOutput
  private let stream: BodyStreamer?
  private let includesHead: Bool
  /// Hides secrets of the metadata; nil leaves it out.
  private let metadataMask: SecretMask?

  /// - Parameter input: the file that is sent, which is not to be written.
  init(_ arguments: ParsedArguments, _ mask: SecretMask, besides input: FileIdentity?) throws(CommandError) {
    if arguments.has("metadata"), !arguments.has("json") {
      throw CommandError(.usage, "--metadata: goes into a result document; ask for one with --json")
    }
    metadataMask = arguments.has("metadata") ? mask : nil
    includesHead = arguments.has("include") || arguments.has("head")
    bytes = try ByteOutput(path: arguments["output"], besides: input)
    bytes.listen(
      ByteOutput.Listener(
        onRoom: { [cancellation] in cancellation.resumeReceiving() },
        onFailure: { [cancellation] _ in cancellation.cancel() }))
    stream = arguments.has("json") ? nil : BodyStreamer(bytes, includesHead: includesHead, cancellation: cancellation)
  }

  var sink: (any BodySink)? { stream }

  /// Writes what was not streamed and waits until all is written; gives what went wrong with the output.
  func finish(_ result: TransactionResult) throws(CommandError) -> CommandError? {
    if let stream {
      try stream.finish(result)
    } else {
      bytes.append(try document(result))
    }
    guard let failure = bytes.finish() else { return stream?.failure }
    return failure.isBrokenPipe
      ? CommandError(.brokenPipe, "") : CommandError(.failed, failure.description + (stream?.progress ?? ""))
  }

  private func document(_ result: TransactionResult) throws(CommandError) -> [UInt8] {
    do { return try ResultText.line(result, id: JSONValue(result.id.description), metadata: metadataMask) } catch {
      throw CommandError(.failed, "the result cannot be written as a document: \(error)")
    }
  }
}
