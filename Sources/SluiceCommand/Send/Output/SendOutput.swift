import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline

/// The output of one request: the response is streamed to a file or to standard output, or written as a document at the
/// end.
struct SendOutput {
  let cancellation = Cancellation()
  private let bytes: ByteOutput
  private let stream: BodyStreamer?
  private let name: OutputName?
  private let resumed: ResumedBody?
  /// Gets the heads, if it is not the output itself.
  private let heads: ByteOutput?
  private let removesOnError: Bool
  /// Hides secrets of the metadata; nil leaves it out.
  private let metadataMask: SecretMask?

  /// - Parameter input: the file that is sent, which must not be written.
  init(
    _ arguments: ParsedArguments, _ mask: SecretMask, _ hops: HopList, besides input: FileIdentity?
  ) throws(CommandError) {
    metadataMask = arguments.has("metadata") ? mask : nil
    removesOnError = arguments.has("remove-on-error")
    let name = try OutputPath.make(arguments)
    self.name = name
    resumed = try ResumedBody.make(arguments, path: name?.path)
    let rate = try ByteCount.rate(arguments)
    do throws(CommandError) { bytes = try ByteOutput(whenNeeded: name, besides: input, rate: rate) } catch {
      throw CommandError(error.status == .failed ? SendStatus.notWritten : error.status, error.message)
    }
    bytes.listen(
      ByteOutput.Listener(
        onRoom: { [cancellation] in cancellation.resumeReceiving() },
        onFailure: { [cancellation] in cancellation.fail(BodyStreamer.error($0)) }))
    let headPath = arguments["dump-header"]
    let sharesOutput = headPath.map(StandardOutput.isNamed) == true && name == nil
    heads = sharesOutput ? nil : try headPath.map { path throws(CommandError) in try Self.headOutput(path) }
    var rules = BodyStreamer.Rules()
    rules.includesHead = arguments.has("include") || arguments.has("head") || sharesOutput
    rules.includesBody = !arguments.has("head")
    rules.leavesOutErrors = arguments.has("fail")
    rules.takesServerName = arguments.has("remote-header-name")
    rules.resumed = resumed
    stream =
      arguments.has("document")
      ? nil : BodyStreamer(bytes, name, heads: heads, rules, hops, cancellation: cancellation)
  }

  /// What is wrong with the options, whichever request they are for.
  static func check(_ arguments: ParsedArguments) throws(CommandError) {
    guard ["fail", "fail-with-body", "no-fail"].count(where: arguments.has) < 2 else {
      throw CommandError(.usage, "send: give only one of -f, --fail-with-body and --no-fail")
    }
    if arguments.has("metadata"), !arguments.has("document") {
      throw CommandError(.usage, "--metadata needs --document, because it is a part of the result document")
    }
    for name in ["dump-header", "remote-header-name", "continue-at"]
    where arguments.has(name) && arguments.has("document") {
      throw CommandError(.usage, "send: give either --\(name) or --document")
    }
    if arguments.has("continue-at"), arguments.has("remove-on-error") {
      throw CommandError(
        .usage, "send: give only one of -C and --remove-on-error: a failure would remove the part from before too")
    }
    if arguments.has("continue-at"), arguments.has("remote-header-name") {
      throw CommandError(.usage, "send: -C needs a name that is known before the response: give -o or -O without -J")
    }
  }

  /// Several requests add to one file, one after the other.
  private static func headOutput(_ path: String) throws(CommandError) -> ByteOutput {
    guard !StandardOutput.isNamed(by: path) else { return try ByteOutput(path: path) }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      throw CommandError(.failed, "-D: " + ByteOutput.Failure(name: path, errorNumber: errno).description)
    }
    return try ByteOutput(owning: descriptor, name: path)
  }

  var sink: (any BodySink)? { stream }

  /// Where the body goes; nil for standard output.
  var path: String? { name?.path }

  /// What is asked for in place of the whole body.
  var range: String? { resumed?.range }

  /// Whether it writes to standard output.
  var isStandard: Bool { path.map(StandardOutput.isNamed) ?? true }

  /// Keeps everything until ``release()``.
  func hold() { bytes.hold() }
  func release() { bytes.release() }

  /// Whatever the rate, what is left is written at once.
  func hurry() { bytes.hurry() }

  /// Writes everything that was not streamed, and waits until it is written. Returns any failure of the output.
  func finish(_ result: TransactionResult) throws(CommandError) -> CommandError? {
    if let stream {
      // If the request fails before that, an existing file is not changed.
      if let response = result.response, Self.isWhole(result), !stream.leavesOut(response) { bytes.want() }
      try stream.finish(result)
    } else {
      bytes.append(try document(result))
    }
    let headFailure = heads?.finish()
    let failure = bytes.finish()
    guard let failure = failure ?? headFailure else {
      return stream?.failure.map {
        CommandError(resumed == nil ? SendStatus.notWritten : SendStatus.notResumed, $0.message)
      }
    }
    // Nothing was written if a file of that name must stay.
    let progress = failure.errorNumber == EEXIST ? "" : stream?.progress ?? ""
    return failure.isBrokenPipe
      ? CommandError(.brokenPipe, "") : CommandError(SendStatus.notWritten, failure.description + progress)
  }

  /// The request has failed: a file that holds a part of its response is not kept, if the options say so.
  func discard() {
    if removesOnError, let name { bytes.remove(name) }
  }

  /// Whether the response says that the file was whole already, which is no error.
  func hasNothingLeft(_ result: TransactionResult) -> Bool {
    result.response.map { resumed?.answer($0) == .nothingLeft } ?? false
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
  func isCutOff(_ result: TransactionResult) -> Bool {
    stream != nil && bytes.hasBytes && !removesOnError && !Self.isWhole(result)
  }

  private func document(_ result: TransactionResult) throws(CommandError) -> [UInt8] {
    do {
      return try ResultText.line(result, id: ResultID(JSONValue(result.id.description)), metadata: metadataMask)
    } catch {
      throw CommandError(.failed, "the result cannot be written as a document: \(error)")
    }
  }
}
