import SluicePipeline
import SluiceSupport

/// The transfers that wait for a connection to one origin.
///
/// Those whose request a server has refused come first, the most refused one at the front: a connection takes only its
/// first streams before it is closed, and a request must not lose that race each time. All others come in the order in
/// which they began to wait.
struct TransferLine {
  private var waiting = FIFOQueue<WireTransfer>()
  /// By the number of refusals, the most at the end. Of equal ones, the one that came first is nearer to the end.
  private var refused: [WireTransfer] = []
  /// Transfers in the line that have ended.
  private var endedCount = 0

  /// How many transfers wait, without those that have ended.
  var count: Int { placeCount - endedCount }
  /// Whether no transfer is in the line, not even one that has ended.
  var isEmpty: Bool { placeCount == 0 }

  private var placeCount: Int { waiting.count + refused.count }

  mutating func append(_ transfer: WireTransfer) {
    let refusals = transfer.options.refusals
    guard refusals > 0 else { return waiting.append(transfer) }
    var (low, high) = (0, refused.count)
    while low < high {
      let middle = (low + high) / 2
      if refused[middle].options.refusals < refusals { low = middle + 1 } else { high = middle }
    }
    refused.insert(transfer, at: low)
  }

  /// Takes the transfer that is served next; nil if all have ended.
  mutating func popFirst() -> WireTransfer? {
    while let transfer = refused.popLast() ?? waiting.popFirst() {
      if transfer.hasEnded {
        endedCount -= 1
        continue
      }
      transfer.leaveLine()
      if !transfer.isOver { return transfer }
    }
    return nil
  }

  /// The transfer that is served first of those for which the predicate holds.
  func first(where predicate: (WireTransfer) -> Bool) -> WireTransfer? {
    refused.last(where: predicate) ?? waiting.first(where: predicate)
  }

  /// A transfer has ended that waits here.
  mutating func waiterDidEnd() {
    endedCount += 1
    guard endedCount > 32, endedCount > placeCount / 2 else { return }
    // Those that have ended are released in one go, so that each costs little.
    var others = FIFOQueue<WireTransfer>()
    while let transfer = waiting.popFirst() {
      if !transfer.hasEnded { others.append(transfer) }
    }
    waiting = others
    refused.removeAll(where: \.hasEnded)
    endedCount = 0
  }
}
