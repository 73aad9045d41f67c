import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The transfers that wait for a connection to one origin.
///
/// First come the transfers whose request a server has refused, and among these the one with the most refusals. A
/// server can close each connection after a few streams, and without this rule the same request could come too late
/// each time. The other transfers follow by priority; within one priority, in the order in which they began to wait.
/// Every eighth turn goes to the transfer that has waited longest, regardless of its priority, so that none waits
/// forever.
struct TransferLine {
  private static let turnsOfPriority = 8

  private var waiting = FIFOQueue<HTTPTransfer>()
  private var urgent = FIFOQueue<HTTPTransfer>()
  private var unhurried = FIFOQueue<HTTPTransfer>()
  /// The number of transfers that have begun to wait.
  private var arrivals: UInt64 = 0
  /// The number of transfers that were taken while transfers of another priority waited.
  private var turns = 0
  /// The transfers with refusals, sorted by their number of refusals, with the highest at the end. Among equals, the
  /// earliest transfer is nearest to the end.
  private var refused: [HTTPTransfer] = []
  /// The number of transfers in the line, including those that have ended.
  private var placeCount = 0
  /// The number of transfers in the line that have ended, or wait for a connection of their own.
  private var endedCount = 0

  /// The number of transfers that wait. Transfers that have ended do not count.
  var count: Int { placeCount - endedCount }
  /// Whether the line has no transfers at all, not even transfers that have ended.
  var isEmpty: Bool { placeCount == 0 }

  mutating func append(_ transfer: HTTPTransfer) {
    placeCount += 1
    let refusals = transfer.options.refusals
    guard refusals > 0 else {
      arrivals += 1
      transfer.arrival = arrivals
      switch transfer.options.priority {
      case .high: return urgent.append(transfer)
      case .normal: return waiting.append(transfer)
      case .low: return unhurried.append(transfer)
      }
    }
    var (low, high) = (0, refused.count)
    while low < high {
      let middle = (low + high) / 2
      if refused[middle].options.refusals < refusals { low = middle + 1 } else { high = middle }
    }
    refused.insert(transfer, at: low)
  }

  /// Takes the transfer that is served next. Returns nil if all have ended.
  mutating func popFirst() -> HTTPTransfer? {
    while let transfer = refused.popLast() ?? popByPriority() {
      placeCount -= 1
      if !transfer.waitsInLine {
        endedCount -= 1
        continue
      }
      transfer.leaveLine()
      if !transfer.isOver { return transfer }
    }
    return nil
  }

  private mutating func popByPriority() -> HTTPTransfer? {
    if urgent.isEmpty, unhurried.isEmpty { return waiting.popFirst() }
    turns += 1
    if turns >= Self.turnsOfPriority {
      turns = 0
      return popOldest()
    }
    return urgent.popFirst() ?? waiting.popFirst() ?? unhurried.popFirst()
  }

  private mutating func popOldest() -> HTTPTransfer? {
    let oldest = [urgent.first, waiting.first, unhurried.first].compactMap(\.self).min { $0.arrival < $1.arrival }
    switch oldest?.options.priority {
    case .high: return urgent.popFirst()
    case .normal: return waiting.popFirst()
    case .low: return unhurried.popFirst()
    case nil: return nil
    }
  }

  /// The first transfer, in the order of service, for which the predicate holds.
  func first(where predicate: (HTTPTransfer) -> Bool) -> HTTPTransfer? {
    refused.last(where: predicate) ?? urgent.first(where: predicate) ?? waiting.first(where: predicate)
      ?? unhurried.first(where: predicate)
  }

  /// Called when a transfer in the line has ended.
  mutating func waiterDidEnd() {
    endedCount += 1
    guard endedCount > 32, endedCount > placeCount / 2 else { return }
    // Ended transfers are removed many at a time, because each removal searches the whole line.
    Self.dropEnded(of: &urgent)
    Self.dropEnded(of: &waiting)
    Self.dropEnded(of: &unhurried)
    refused.removeAll { !$0.waitsInLine }
    placeCount = waiting.count + urgent.count + unhurried.count + refused.count
    endedCount = 0
  }
  private static func dropEnded(of line: inout FIFOQueue<HTTPTransfer>) {
    var others = FIFOQueue<HTTPTransfer>()
    while let transfer = line.popFirst() {
      if transfer.waitsInLine { others.append(transfer) }
    }
    line = others
  }
}
