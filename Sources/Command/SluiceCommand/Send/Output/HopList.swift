import Sluice
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// Collects the metrics and the heads of all hops of a request.
final class HopList: TransactionDelegate {
  private struct State: Sendable {
    var hops: [HopMetrics] = []
    /// The heads of the responses in order, including informational responses.
    var heads: [Head] = []
    var progress = (sent: TransferProgress(bytes: 0, total: nil), received: TransferProgress(bytes: 0, total: nil))
  }

  private struct Head {
    let bytes: [UInt8]
    /// The number of the hop that got the response; nil for an informational response.
    let hop: Int?
  }

  /// Nil if no heads are needed.
  private let recorder: HeadRecorder?
  private let state = Locked(State())

  init(_ recorder: HeadRecorder?) { self.recorder = recorder }

  /// The hops in order; there is only one if nothing was redirected or repeated.
  var all: [HopMetrics] { state.withLock { $0.hops } }

  /// The heads of the responses before the final one.
  ///
  /// - Parameter isOver: whether the hop of the final response has ended.
  func earlierHeads(isOver: Bool) -> [UInt8] {
    state.withLock { state in
      let final = isOver ? state.hops.count - 1 : nil
      return state.heads.filter { $0.hop == nil || $0.hop != final }.flatMap(\.bytes)
    }
  }

  /// How much of the bodies of the current hop was sent and received.
  var progress: (sent: TransferProgress, received: TransferProgress) { state.withLock { $0.progress } }

  func transaction(_ id: TransactionID, didEndHop metrics: HopMetrics) {
    let head = recorder?.take(id)
    state.withLock { state in
      if let head { state.heads.append(Head(bytes: head, hop: state.hops.count)) }
      state.hops.append(metrics)
    }
  }

  func transaction(_ id: TransactionID, didReceiveInformational status: Int, headers: HeaderFields) {
    guard recorder != nil else { return }
    var response = Response(status: status)
    response.headers = headers
    let head = HeadText.of(response)
    state.withLock { $0.heads.append(Head(bytes: head, hop: nil)) }
  }

  func transaction(_ id: TransactionID, didSend progress: TransferProgress) {
    state.withLock { $0.progress.sent = progress }
  }

  func transaction(_ id: TransactionID, didReceive progress: TransferProgress) {
    state.withLock { $0.progress.received = progress }
  }
}
