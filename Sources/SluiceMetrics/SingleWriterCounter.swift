import Synchronization

/// A count that one thread writes and any thread may read.
///
/// Without a locked instruction: two writers at once would lose counts. Wraps around after 2⁶⁴.
public struct SingleWriterCounter: ~Copyable, Sendable {
  private let stored = Atomic<UInt64>(0)

  public init() {}

  /// Adds to the count; from the one thread that owns it.
  @inline(__always)
  public func add(_ amount: UInt64 = 1) {
    stored.store(stored.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  public var value: UInt64 { stored.load(ordering: .relaxed) }
}

/// A count that every thread may write; dearer than ``SingleWriterCounter`` by a locked instruction.
public struct SharedCounter: ~Copyable, Sendable {
  private let stored = Atomic<UInt64>(0)

  public init() {}

  public func add(_ amount: UInt64 = 1) { stored.wrappingAdd(amount, ordering: .relaxed) }

  public var value: UInt64 { stored.load(ordering: .relaxed) }
}
