import SluiceLocks

/// The numbers of one instance name; they outlive its generations.
final class ValueTable: Sendable {
  static let maximumCount = 4096
  private let values = Locked<[[UInt8]: Int64]>([:])

  /// Nil where the table is full.
  func add(_ key: [UInt8], _ amount: Int64) -> Int64? {
    values.withLock { values in
      guard let value = values[key] else {
        guard values.count < Self.maximumCount else { return nil }
        values[key] = amount
        return amount
      }
      values[key] = value &+ amount
      return value &+ amount
    }
  }

  func get(_ key: [UInt8]) -> Int64? { values.withLock { $0[key] } }

  enum Exchange: Sendable { case done, differs(Int64), full }

  /// A value that was never set counts as 0.
  func compareExchange(_ key: [UInt8], expected: Int64, desired: Int64) -> Exchange {
    values.withLock { values in
      let value = values[key]
      guard (value ?? 0) == expected else { return .differs(value ?? 0) }
      guard value != nil || values.count < Self.maximumCount else { return .full }
      values[key] = desired
      return .done
    }
  }
}
