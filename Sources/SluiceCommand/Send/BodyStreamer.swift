import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Writes a response body while it arrives, and pauses the socket while the reader of the output is slower.
final class BodyStreamer: BodySink {
  private struct State: Sendable {
    var hasHead = false
    var isLeftOut = false
    var writtenBytes = 0
    var failure: TransactionError?
  }

  private let output: ByteOutput
  private let includesHead: Bool
  /// A response to HEAD has no body (RFC 9110 §9.3.2), even if a stage has set one.
  private let includesBody: Bool
  /// Whether the body of a response with an error status is not written.
  private let leavesOutErrors: Bool
  private let cancellation: Cancellation
  private let state = Locked(State())

  init(
    _ output: ByteOutput, includesHead: Bool, includesBody: Bool, leavesOutErrors: Bool, cancellation: Cancellation
  ) {
    self.output = output
    self.includesHead = includesHead
    self.includesBody = includesBody
    self.leavesOutErrors = leavesOutErrors
    self.cancellation = cancellation
  }

  /// Whether the body of the response is not written, because of its status.
  func leavesOut(_ response: Response) -> Bool { leavesOutErrors && response.status >= 400 }

  /// Why the body could not be written completely.
  var failure: TransactionError? {
    state.withLock { $0.failure } ?? output.failure.map(Self.error)
  }

  static func error(_ failure: ByteOutput.Failure) -> TransactionError {
    TransactionError(code: .sink, message: failure.description)
  }

  /// How much was written, for an error message.
  var progress: String { " after \(state.withLock { $0.writtenBytes }) bytes" }

  func begin(_ head: Response) {
    let written = state.withLock { $0.writtenBytes }
    guard written == 0 else {
      let message = "the response began again after \(written) bytes of it had been written; the output is not whole"
      let failure = TransactionError(code: .sink, message: message)
      state.withLock { $0.failure = failure }
      return cancellation.fail(failure)
    }
    writeHead(head)
    if leavesOut(head) { state.withLock { $0.isLeftOut = true } }
  }

  func receive(_ piece: [UInt8]) -> BodyProgress {
    guard failure == nil else { return .stop }
    guard includesBody, !state.withLock({ $0.isLeftOut }) else { return .proceed }
    state.withLock { $0.writtenBytes += piece.count }
    return output.append(piece) ? .proceed : .pause
  }

  /// Writes a body that did not come through the sink, because a stage wanted it whole or made it.
  func finish(_ result: TransactionResult) throws(CommandError) {
    guard let response = result.response else { return }
    writeHead(response)
    guard includesBody, !leavesOut(response), state.withLock({ $0.writtenBytes }) == 0 else {
      return
    }
    switch response.body {
    case .bytes(let bytes): output.append(bytes)
    case .file(let file): output.append(try FileContent.read(file))
    case .empty, .stream: break
    }
  }

  private func writeHead(_ response: Response) {
    let isFirst = state.withLock { state in
      defer { state.hasHead = true }
      return !state.hasHead
    }
    if includesHead, isFirst { output.append(Array(HeadText.of(response).utf8)) }
  }
}
