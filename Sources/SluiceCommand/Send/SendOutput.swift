import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The output of `send`: the response is streamed to a file or to standard output, or written as a document at the end.
struct SendOutput {
  let cancellation = Cancellation()
  private let bytes: ByteOutput
  private let stream: BodyStreamer?
  private let includesHead: Bool
  /// Hides secrets of the metadata; nil leaves it out.
  private let metadataMask: SecretMask?
  /// Where the body goes; nil for standard output.
  let path: String?

  /// - Parameter input: the file that is sent, which must not be written.
  init(_ arguments: ParsedArguments, _ mask: SecretMask, besides input: FileIdentity?) throws(CommandError) {
    guard ["fail", "fail-with-body", "no-fail"].count(where: arguments.has) < 2 else {
      throw CommandError(.usage, "send: give only one of -f, --fail-with-body and --no-fail")
    }
    if arguments.has("metadata"), !arguments.has("document") {
      throw CommandError(.usage, "--metadata needs --document, because it is a part of the result document")
    }
    metadataMask = arguments.has("metadata") ? mask : nil
    includesHead = arguments.has("include") || arguments.has("head")
    path = try OutputPath.make(arguments)
    bytes = try ByteOutput(whenNeeded: path, besides: input)
    bytes.listen(
      ByteOutput.Listener(
        onRoom: { [cancellation] in cancellation.resumeReceiving() },
        onFailure: { [cancellation] in cancellation.fail(BodyStreamer.error($0)) }))
    stream =
      arguments.has("document")
      ? nil
      : BodyStreamer(
        bytes, includesHead: includesHead, includesBody: !arguments.has("head"),
        leavesOutErrors: arguments.has("fail"), cancellation: cancellation)
  }

  var sink: (any BodySink)? { stream }

  /// Writes everything that was not streamed, and waits until it is written. Returns any failure of the output.
  func finish(_ result: TransactionResult) throws(CommandError) -> CommandError? {
    if let stream {
      // If the request fails before that, an existing file is not changed.
      if let response = result.response, Self.isWhole(result), !stream.leavesOut(response) { bytes.want() }
      try stream.finish(result)
    } else {
      bytes.append(try document(result))
    }
    guard let failure = bytes.finish() else {
      return stream?.failure.map { CommandError(.failed, $0.message) }
    }
    return failure.isBrokenPipe
      ? CommandError(.brokenPipe, "") : CommandError(.failed, failure.description + (stream?.progress ?? ""))
  }

  private static let judgements: [ErrorCode] = [
    .status, .extraction, .payload,
  ]

  /// Whether the body arrived completely, even if it was not accepted.
  private static func isWhole(_ result: TransactionResult) -> Bool {
    guard let error = result.error else { return true }
    return judgements.contains(error.code)
  }

  /// Whether the output has a part of a body that broke off.
  func isCutOff(_ result: TransactionResult) -> Bool { stream != nil && bytes.hasBytes && !Self.isWhole(result) }

  private func document(_ result: TransactionResult) throws(CommandError) -> [UInt8] {
    do {
      return try ResultText.line(result, id: ResultID(JSONValue(result.id.description)), metadata: metadataMask)
    } catch {
      throw CommandError(.failed, "the result cannot be written as a document: \(error)")
    }
  }
}
