import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The transfers that wait for a connection to one origin.
///
/// Transfers whose request a server has refused come first, the one with the most refusals at the front: a connection
/// takes only its first streams before it is closed, and a request must not lose that race each time. Then come those
/// of a higher priority; within one priority, in the order in which they began to wait. Every eighth turn goes to the
/// transfer that has waited longest, whatever its priority, so that none waits forever.
struct TransferLine {
  private static let turnsOfPriority = 8

  private var waiting = FIFOQueue<WireTransfer>()
  private var urgent = FIFOQueue<WireTransfer>()
  private var unhurried = FIFOQueue<WireTransfer>()
  /// Transfers that began to wait.
  private var arrivals: UInt64 = 0
  /// Transfers that were taken while others of another priority waited.
  private var turns = 0
  /// Sorted by the number of refusals, the highest at the end. Among equals, the earliest is nearest to the end.
  private var refused: [WireTransfer] = []
  /// Transfers in the line, including those that have ended.
  private var placeCount = 0
  /// Transfers in the line that have ended, or wait for a connection of their own.
  private var endedCount = 0

  /// How many transfers wait, without those that have ended.
  var count: Int { placeCount - endedCount }
  /// Whether no transfer is in the line, not even one that has ended.
  var isEmpty: Bool { placeCount == 0 }

  mutating func append(_ transfer: WireTransfer) {
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

  /// Takes the transfer that is served next; nil if all have ended.
  mutating func popFirst() -> WireTransfer? {
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

  private mutating func popByPriority() -> WireTransfer? {
    if urgent.isEmpty, unhurried.isEmpty { return waiting.popFirst() }
    turns += 1
    if turns >= Self.turnsOfPriority {
      turns = 0
      return popOldest()
    }
    return urgent.popFirst() ?? waiting.popFirst() ?? unhurried.popFirst()
  }

  private mutating func popOldest() -> WireTransfer? {
    let oldest = [urgent.first, waiting.first, unhurried.first].compactMap(\.self).min { $0.arrival < $1.arrival }
    switch oldest?.options.priority {
    case .high: return urgent.popFirst()
    case .normal: return waiting.popFirst()
    case .low: return unhurried.popFirst()
    case nil: return nil
    }
  }

  /// The transfer that is served first of those for which the predicate holds.
  func first(where predicate: (WireTransfer) -> Bool) -> WireTransfer? {
    refused.last(where: predicate) ?? urgent.first(where: predicate) ?? waiting.first(where: predicate)
      ?? unhurried.first(where: predicate)
  }

  /// A transfer that waits here has ended.
  mutating func waiterDidEnd() {
    endedCount += 1
    guard endedCount > 32, endedCount > placeCount / 2 else { return }
    // Ended transfers are released together, so that each costs little.
    Self.dropEnded(of: &urgent)
    Self.dropEnded(of: &waiting)
    Self.dropEnded(of: &unhurried)
    refused.removeAll { !$0.waitsInLine }
    placeCount = waiting.count + urgent.count + unhurried.count + refused.count
    endedCount = 0
  }
  private static func dropEnded(of line: inout FIFOQueue<WireTransfer>) {
    var others = FIFOQueue<WireTransfer>()
    while let transfer = line.popFirst() {
      if transfer.waitsInLine { others.append(transfer) }
    }
    line = others
  }
}
