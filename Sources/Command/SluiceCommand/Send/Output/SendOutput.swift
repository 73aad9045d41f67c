import Glibc
import Sluice
import SluiceJSON
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The output of one request. The response is streamed to a file or to standard output, or is written as a document at
/// the end.
struct SendOutput {
  let cancellation = Cancellation()
  private let bytes: ByteOutput
  private let stream: BodyStreamer?
  private let name: OutputName?
  private let resumed: ResumedBody?
  /// The output for the heads; nil if they are written to the main output, or not at all.
  private let heads: ByteOutput?
  /// Whether the body is written to standard output.
  let isStandard: Bool
  private let removesOnError: Bool
  /// The limit of `-m`; nil if there is none.
  private let timeLimit: Duration?
  /// Hides secrets in the metadata. If it is nil, no metadata is written.
  private let metadataMask: SecretMask?
  private let parsesJSON: Bool

  /// - Parameter input: the file that is sent, and that must not be written.
  init(
    _ arguments: ParsedArguments, _ mask: SecretMask, _ hops: HopList, besides input: FileIdentity?
  ) throws(CommandError) {
    metadataMask = arguments.has("metadata") ? mask : nil
    parsesJSON = arguments.has("json-bodies")
    removesOnError = arguments.has("remove-on-error")
    timeLimit = try arguments.duration("max-time", unit: "s").flatMap { $0 > .zero ? $0 : nil }
    let name = try OutputPath.make(arguments)
    self.name = name
    resumed = try ResumedBody.make(arguments, path: name?.path)
    let rate = try ByteCount.rate(arguments)
    let patience = try OutputPatience.reader(arguments)
    bytes = try SendStatus.writing { () throws(CommandError) in
      if arguments.has("create-dirs"), let name { try OutputPath.createFolders(of: name.path) }
      return try ByteOutput(whenNeeded: name, besides: input, rate: rate, patience: patience)
    }
    bytes.listen(
      ByteOutput.Listener(
        onRoom: { [cancellation] in cancellation.resumeReceiving() },
        onFailure: { [cancellation] in cancellation.fail(BodyStreamer.error($0)) }))
    let headPath = arguments["dump-header"]
    isStandard = name.map { StandardOutput.isNamed(by: $0.path) } ?? true
    let sharesOutput = headPath.map(StandardOutput.isNamed) == true && isStandard
    heads =
      sharesOutput
      ? nil
      : try headPath.map { path throws(CommandError) in
        try Self.headOutput(path, patience)
      }
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

  /// Checks the options of one request as `init` does, but changes nothing.
  static func check(_ arguments: ParsedArguments, besides input: FileIdentity?) throws(CommandError) {
    let name = try OutputPath.make(arguments)
    _ = try ResumedBody.make(arguments, path: name?.path)
    guard let name, !StandardOutput.isNamed(by: name.path) else { return }
    // With --create-dirs, the first folder that does not exist will be created.
    let created = arguments.has("create-dirs") ? OutputName(OutputPath.firstMissing(name.path)) : name
    try SendStatus.writing { () throws(CommandError) in try OutputFile.check(created, besides: input) }
  }

  /// Checks the options that do not depend on the request.
  static func check(_ arguments: ParsedArguments) throws(CommandError) {
    guard ["fail", "fail-with-body", "no-fail"].count(where: arguments.has) < 2 else {
      throw CommandError(.usage, "send: give only one of -f, --fail-with-body and --no-fail")
    }
    for name in ["metadata", "json-bodies"] where arguments.has(name) && !arguments.has("document") {
      throw CommandError(.usage, "--\(name) needs --document, because it changes the result document")
    }
    for name in ["dump-header", "remote-header-name", "continue-at"]
    where arguments.has(name) && arguments.has("document") {
      throw CommandError(.usage, "send: give either --\(name) or --document")
    }
    if arguments.has("continue-at"), arguments.has("remove-on-error") {
      throw CommandError(
        .usage, "send: give only one of -C and --remove-on-error: a failure would also remove the existing part")
    }
    if arguments.has("continue-at"), arguments.has("remote-header-name") {
      throw CommandError(.usage, "send: -C needs a name that is known before the response: give -o or -O without -J")
    }
  }

  /// The heads of several requests are appended to one file.
  private static func headOutput(_ path: String, _ patience: Duration) throws(CommandError) -> ByteOutput {
    guard !StandardOutput.isNamed(by: path) else { return try ByteOutput(path: path) }
    do throws(CommandError) { return try ByteOutput(appendingTo: path, patience: patience) } catch {
      throw SendStatus.unwritten(CommandError(error.status, "-D: \(error.message)"))
    }
  }

  var sink: (any BodySink)? { stream }

  /// The path of the output file; nil for standard output.
  var path: String? { name?.path }
  /// The bytes of the path; nil for standard output.
  var pathBytes: [UInt8]? { name?.bytes }

  /// Holds everything back until ``release()``.
  func hold() { bytes.hold() }
  func release() { bytes.release() }

  /// Writes the remaining bytes at once, whatever the rate is.
  func hurry() { bytes.hurry() }

  /// Writes the parts of the result that were not streamed, and waits until they are written. Returns any failure of
  /// the output.
  func finish(_ result: TransactionResult) throws(CommandError) -> CommandError? {
    if let stream {
      // An existing file is not changed if the request fails before the response is complete.
      if let response = result.response, Self.isWhole(result), !stream.leavesOut(response) { bytes.want() }
      try stream.finish(result)
    } else {
      bytes.append(try document(result))
    }
    let patience = patience(after: result)
    let headFailure = heads?.finish(patience: patience)
    let failure = bytes.finish(patience: patience)
    if let stuck = [failure, headFailure].compactMap({ $0 }).first(where: { $0.stuck != nil }), let error = result.error
    {
      return CommandError(SendStatus.of(error), "\(error.description); \(stuck.description)")
    }
    if let failure { return Self.unwritten(failure, "", bytes) }
    if let headFailure, let heads { return Self.unwritten(headFailure, "-D: ", heads) }
    return stream?.failure.map {
      CommandError(resumed == nil ? SendStatus.notWritten : SendStatus.notResumed, $0.message)
    }
  }

  private static func unwritten(_ failure: ByteOutput.Failure, _ option: String, _ output: ByteOutput) -> CommandError {
    guard !failure.isBrokenPipe else { return CommandError(.brokenPipe, "") }
    // EEXIST means that nothing was written, because a file of that name exists and must be kept.
    let progress = failure.errorNumber == EEXIST ? "" : " after \(output.writtenBytes) bytes"
    return CommandError(SendStatus.notWritten, option + failure.description + progress)
  }

  /// How long the output may take no bytes at the end. After the time limit of a request (`-m`), its output must not
  /// wait either. A response that has arrived in time can wait for the reader of standard output, such as a pager.
  private func patience(after result: TransactionResult) -> Duration? {
    if [.deadline, .timeout].contains(result.error?.code) { return OutputPatience.stuck }
    return isStandard ? nil : timeLimit
  }

  /// Must be called for a failed request. With `--remove-on-error`, removes the output file.
  func discard() {
    if removesOnError, let name { bytes.remove(name) }
  }

  /// Whether the response says that the file was already complete. This is not an error.
  func hasNothingLeft(_ result: TransactionResult) -> Bool {
    result.response.map { resumed?.answer($0) == .nothingLeft } ?? false
  }

  private static let judgements: [ErrorCode] = [
    .status, .extraction, .payload,
  ]

  /// Whether the body arrived completely, even if a check has refused it.
  private static func isWhole(_ result: TransactionResult) -> Bool {
    guard let error = result.error else { return true }
    return judgements.contains(error.code)
  }

  /// Whether the output has the beginning of a body that was not received completely.
  func isCutOff(_ result: TransactionResult) -> Bool {
    stream != nil && bytes.hasBytes && !removesOnError && !Self.isWhole(result)
  }

  private func document(_ result: TransactionResult) throws(CommandError) -> [UInt8] {
    do {
      return try ResultText.line(
        result, id: ResultID(JSONValue(result.id.description)), metadata: metadataMask, parsesJSON: parsesJSON)
    } catch {
      throw CommandError(.failed, "the result cannot be written as a document: \(error)")
    }
  }
}
