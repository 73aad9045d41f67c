import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Writes a response while it arrives. Pauses the socket if the output is read more slowly than the response arrives.
final class BodyStreamer: BodySink {
  /// The rules for what is written of a response, and to which file.
  struct Rules: Sendable {
    /// Whether heads are written before the body.
    var includesHead = false
    /// Whether the body is written. A response to HEAD has no body (RFC 9110 §9.3.2), even if a stage has set one.
    var includesBody = true
    /// Whether the body is left out if the status is an error.
    var leavesOutErrors = false
    /// Whether the server may choose the name of the file.
    var takesServerName = false
    /// Nil if the body is requested from its first byte.
    var resumed: ResumedBody?
  }

  private struct State: Sendable {
    var hasHead = false
    var isLeftOut = false
    var writtenBytes = 0
    var failure: TransactionError?
  }

  private let output: ByteOutput
  /// Nil for standard output.
  private let name: OutputName?
  private let heads: ByteOutput?
  private let rules: Rules
  private let hops: HopList
  private let cancellation: Cancellation
  private let state = Locked(State())

  /// - Parameters:
  ///   - name: the name of the output file.
  ///   - heads: gets the heads of all responses; nil if they are not written separately.
  init(
    _ output: ByteOutput, _ name: OutputName?, heads: ByteOutput?, _ rules: Rules, _ hops: HopList,
    cancellation: Cancellation
  ) {
    self.output = output
    self.name = name
    self.heads = heads
    self.rules = rules
    self.hops = hops
    self.cancellation = cancellation
  }

  /// Whether the body is left out because of the response's status. If a download is continued (`-C`), only a body that
  /// continues the file is written.
  func leavesOut(_ response: Response) -> Bool {
    if let resumed = rules.resumed { return resumed.answer(response) != .rest }
    return rules.leavesOutErrors && response.status >= 400
  }

  /// Why the body could not be written completely; nil if there was no failure.
  var failure: TransactionError? {
    state.withLock { $0.failure } ?? output.failure.map(Self.error)
  }

  static func error(_ failure: ByteOutput.Failure) -> TransactionError {
    TransactionError(code: .sink, message: failure.description)
  }

  func begin(_ head: Response) {
    let written = state.withLock { $0.writtenBytes }
    guard written == 0 else {
      return fail("the response began again after \(written) bytes of it had been written; the output is incomplete")
    }
    if case .refused(let reason)? = rules.resumed?.answer(head) { return fail(reason) }
    prepare(head)
    writeHead(head, isOver: false)
    if leavesOut(head) { state.withLock { $0.isLeftOut = true } }
  }

  func receive(_ piece: [UInt8]) -> BodyProgress {
    guard failure == nil else { return .stop }
    guard rules.includesBody, !state.withLock({ $0.isLeftOut }) else { return .proceed }
    state.withLock { $0.writtenBytes += piece.count }
    return output.append(piece) ? .proceed : .pause
  }

  /// Writes a body that was not streamed, because a stage needed the whole body or has created it.
  func finish(_ result: TransactionResult) throws(CommandError) {
    guard let response = result.response else {
      let earlier = hops.earlierHeads(isOver: false)
      heads?.append(earlier)
      return
    }
    if !state.withLock({ $0.hasHead }) { prepare(response) }
    writeHead(response, isOver: true)
    guard rules.includesBody, !leavesOut(response), state.withLock({ $0.writtenBytes }) == 0 else {
      return
    }
    switch response.body {
    case .bytes(let bytes): output.append(bytes)
    case .file(let file): output.append(try FileContent.read(file))
    case .empty, .stream: break
    }
  }

  private func fail(_ message: String) {
    let failure = TransactionError(code: .sink, message: message)
    state.withLock { $0.failure = failure }
    cancellation.fail(failure)
  }

  /// Sets the file name that the server suggests, and appends to the file if a download is continued.
  private func prepare(_ head: Response) {
    guard let name else { return }
    if rules.takesServerName, head.status < 300,
      let given = head.headers[bytes: "content-disposition"].first.flatMap(ContentDisposition.filename)
    {
      name.rename(to: given)
    }
    if rules.resumed?.answer(head) == .rest { name.set(existing: .append) }
  }

  private func writeHead(_ response: Response, isOver: Bool) {
    let isFirst = state.withLock { state in
      defer { state.hasHead = true }
      return !state.hasHead
    }
    guard isFirst, rules.includesHead || heads != nil else { return }
    let text = hops.earlierHeads(isOver: isOver) + HeadText.of(response)
    if rules.includesHead { output.append(text) }
    heads?.append(text)
  }
}
