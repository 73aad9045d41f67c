import SluiceMessages
import SluicePipeline
import SluiceTestKit

/// An observer that records its calls and returns what the test has set.
final class Probe: TransferObserver, @unchecked Sendable {
  // `@unchecked Sendable` is safe: tests set the closures before the transfer starts, and a lock protects the recorded
  // calls.
  struct Record: Sendable {
    var issued: [HeaderFields] = []
    var informational: [Int] = []
    var head: Response?
    var streamedBytes = 0
    var pieces = 0
    var sent: [TransferProgress] = []
    var received: [TransferProgress] = []
    var ends: [TransferEnd] = []
  }

  var disposition = BodyDisposition.collect
  var onIssue: (inout HeaderFields) -> Bool = { _ in true }
  var onHead: () -> Void = {}
  var onPiece: ([UInt8]) -> BodyProgress = { _ in .proceed }
  var onEnd: () -> Void = {}
  let record = Watched(Record())

  func transferWillIssue(_ headers: inout HeaderFields) -> Bool {
    let answer = onIssue(&headers)
    let sent = headers
    record.update { $0.issued.append(sent) }
    return answer
  }

  func transferDidReceiveInformational(_ status: Int, _ headers: HeaderFields) {
    record.update { $0.informational.append(status) }
  }

  func transferDidReceiveHead(_ head: Response) -> BodyDisposition {
    record.update { $0.head = head }
    onHead()
    return disposition
  }

  func transferDidReceive(_ piece: [UInt8]) -> BodyProgress {
    record.update { record in
      record.streamedBytes += piece.count
      record.pieces += 1
    }
    return onPiece(piece)
  }

  func transferDidSend(bodyBytes count: Int, of total: Int?) {
    record.update { $0.sent.append(TransferProgress(bytes: count, total: total)) }
  }

  func transferDidReceive(bodyBytes count: Int, of total: Int?) {
    record.update { $0.received.append(TransferProgress(bytes: count, total: total)) }
  }

  func transferDidEnd(_ end: TransferEnd) {
    record.update { $0.ends.append(end) }
    onEnd()
  }

  /// Waits for the end of the transfer, and returns everything that was recorded.
  @discardableResult
  func waitForEnd(upTo limit: Duration = Patience.limit) async throws -> Record {
    try await record.wait(upTo: limit, for: "the end of a transfer") { !$0.ends.isEmpty }
  }
}

extension Probe.Record {
  var error: TransportError? { ends.first?.error }
  var code: ErrorCode? { error?.code }
  var bodyText: String { ends.first?.body.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }
  var timings: TransferTimings { ends.first?.timings ?? TransferTimings() }
}
