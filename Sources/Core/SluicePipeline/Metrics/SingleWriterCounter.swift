import Synchronization

/// A count that one thread writes and any thread may read.
///
/// It uses no locked instruction, so two writers at the same time would lose counts. Wraps around after 2⁶⁴.
package struct SingleWriterCounter: ~Copyable, Sendable {
  private let stored = Atomic<UInt64>(0)

  package init() {}

  /// Adds to the count. Call it only on the one thread that owns the counter.
  @inline(__always)
  package func add(_ amount: UInt64 = 1) {
    stored.store(stored.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  package var value: UInt64 { stored.load(ordering: .relaxed) }
}

/// A count that every thread may write. Each addition costs a locked instruction, which ``SingleWriterCounter`` does
/// not need.
package struct SharedCounter: ~Copyable, Sendable {
  private let stored = Atomic<UInt64>(0)

  package init() {}

  package func add(_ amount: UInt64 = 1) { stored.wrappingAdd(amount, ordering: .relaxed) }

  package var value: UInt64 { stored.load(ordering: .relaxed) }
}
