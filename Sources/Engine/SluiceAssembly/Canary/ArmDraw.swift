package import SluiceMessages
package import SluicePipeline

/// Draws which new transactions of one loop run on a canary, or are recorded as samples for its shadow.
package struct ArmDraw: Sendable {
  /// What happens to the transactions that are drawn.
  package enum Purpose: Sendable {
    case canary(Pipeline)
    /// They run where they would run anyway. `begin` says whether there is room for one more sample. If so, `end` is
    /// called with the recording, which is nil if the transaction was not recorded.
    case sample(begin: @Sendable () -> Bool, end: @Sendable (RecordedExchange?) -> Void)
  }

  package let purpose: Purpose
  /// A transaction is drawn if its number is below this one: that is the share times 2⁶⁴.
  private let bound: UInt64
  private let header: String?
  private let key: MessageHash.Key
  private var random: RandomBits

  /// - Parameters:
  ///   - percent: the share that is drawn, from 0 to 100.
  ///   - salt: makes the values of a header fall differently for each canary. Engines with the same salt agree about
  ///     each value.
  package init(
    _ purpose: Purpose, percent: Double, by key: CanarySettings.Key = .transaction, salt: UInt64 = 0
  ) {
    self.purpose = purpose
    bound = UInt64(min(max(percent, 0) / 100, 1 - 0x1p-53) * 0x1p64)
    self.key = MessageHash.Key(low: salt, high: 0)
    random = RandomBits()
    header =
      switch key {
      case .transaction: nil
      case .header(let name): name
      }
  }

  package mutating func draws(_ request: borrowing Request) -> Bool {
    if let header, let value = request.headers[header] {
      var hash = MessageHash(key: key)
      hash.update(value.utf8)
      return hash.finish() < bound
    }
    return random.next() < bound
  }
}
