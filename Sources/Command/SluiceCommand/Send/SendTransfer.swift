import Sluice
import SluiceAssembly
import SluiceMessages
import SluicePipeline
import SluiceSupport
import SluiceTraceContext

/// One request of `send`, from its arguments to its output.
final class SendTransfer: Sendable {
  let request: Request
  let hops: HopList
  private let arguments: ParsedArguments
  private let output: SendOutput
  private let writeOut: WriteOut?
  private let urlNumber: Int
  private let parent: ParentContext
  /// When the request is sent again; nil if it never is, or if nothing is said about it.
  private let retry: RetryPolicy?
  /// Whether this transfer must keep the order of the plan, because it writes to standard output.
  let isOrdered: Bool

  /// - Parameter index: the number of the request in the plan.
  init(_ plan: SendPlan, _ index: Int, _ setup: SendSetup) throws(CommandError) {
    let arguments = plan[index]
    self.arguments = arguments
    urlNumber = plan.urlNumber(of: index)
    hops = HopList(setup.heads)
    var request = try setup.request(arguments)
    output = try SendOutput(arguments, setup.mask, hops, besides: Self.inputFile(of: request))
    if let rate = try ByteCount.rate(arguments) { request.body = PumpedBody.paced(request.body, rate: rate) }
    self.request = request
    writeOut = setup.writeOut
    parent = setup.parent
    let isRetried = setup.configuration.maximumAttempts > 1 && arguments.has("retry") && !arguments.has("silent")
    retry = isRetried ? setup.configuration.retry : nil
    isOrdered = output.isStandard || writeOut != nil
  }

  /// Checks the arguments of a request. Changes nothing.
  static func check(_ arguments: ParsedArguments, _ setup: SendSetup) throws(CommandError) {
    let request = try setup.request(arguments)
    try setup.checkReach(of: request.url)
    try SendOutput.check(arguments, besides: inputFile(of: request))
  }

  /// The file that is read while the request is sent.
  static func inputFile(of request: Request) -> FileIdentity? {
    guard case .file(let file) = request.body else { return nil }
    return FileIdentity(at: file.path)
  }

  func begin(
    on engine: Engine, _ sides: SideOutputs, completion: @escaping @Sendable (TransactionResult) -> Void
  ) {
    engine.submit(
      sides.asked(request), parent: parent, sink: output.sink, delegate: hops,
      cancellation: output.cancellation, completion: completion)
  }

  func cancel() { output.cancellation.cancel() }

  /// Holds the output back until ``release()`` is called. The session calls it when this transfer may write to standard
  /// output.
  func hold() { output.hold() }
  func release() { output.release() }

  /// Writes the remaining output, and reports a failure.
  func finish(_ result: TransactionResult, _ signals: ProcessSignals) throws(CommandError) -> ExitStatus {
    if let explanation = result.explanation, !arguments.has("document") {
      StandardError.write(PrintableText.of(ExplanationText.of(explanation)))
    }
    if signals.received != nil { output.hurry() }
    let failure = try output.finish(result)
    if let retry, signals.received == nil { RetryNotice.explain(result, retry) }
    let status = status(result, failure, signals)
    if status != .succeeded { output.discard() }
    try writeOut?.write(
      WriteOutValues(
        result: result, hops: hops.all, urlNumber: urlNumber, file: output.pathBytes, status: status))
    return status
  }

  private func status(
    _ result: TransactionResult, _ failure: CommandError?, _ signals: ProcessSignals
  ) -> ExitStatus {
    if let failure {
      if failure.status != .brokenPipe { StandardError.say(failure.message) }
      return failure.status
    }
    if let signal = signals.received { return .interrupted(by: signal) }
    guard let error = result.error else { return .succeeded }
    let isAccepted = arguments.has("no-fail") || output.hasNothingLeft(result)
    if isAccepted, error.code == .status, result.response != nil { return .succeeded }
    if !arguments.has("silent") || arguments.has("show-error") {
      StandardError.say(PrintableText.of(error.description))
      if let path = output.path, output.isCutOff(result) { StandardError.say("\(PlainText.path(path)) is incomplete") }
    }
    return SendStatus.of(error)
  }
}
