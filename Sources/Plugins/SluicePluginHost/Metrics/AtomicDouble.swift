import Synchronization

/// A number that any thread can change without a lock.
struct AtomicDouble: ~Copyable, Sendable {
  private let bits = Atomic<UInt64>(0)

  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  /// A sum beyond the range of a double stays at the largest number.
  func add(_ amount: Double) {
    var old = bits.load(ordering: .relaxed)
    while true {
      let sum = Double(bitPattern: old) + amount
      let limited = sum.isFinite ? sum : (sum < 0 ? -1 : 1) * Double.greatestFiniteMagnitude
      let (exchanged, now) = bits.weakCompareExchange(
        expected: old, desired: limited.bitPattern, ordering: .relaxed)
      if exchanged { return }
      old = now
    }
  }
}
