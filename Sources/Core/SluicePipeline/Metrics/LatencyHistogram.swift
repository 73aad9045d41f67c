import Synchronization

/// Durations counted in the buckets of ``LatencyBuckets``, 5.4 KB in one piece.
///
/// One thread records, without lock or allocation; any thread may take a ``snapshot()`` at the same time.
package final class LatencyHistogram: Sendable {
  private let buckets: InlineArray<673, Atomic<UInt64>>
  private let sum = SingleWriterCounter()
  private let longest = Atomic<UInt64>(0)

  package init() { buckets = InlineArray { _ in Atomic(0) } }

  /// Counts one duration. Call it only on the one thread that owns the histogram.
  @inline(__always)
  package func record(nanoseconds: UInt64) {
    let index = LatencyBuckets.index(of: nanoseconds)
    buckets[index].store(buckets[index].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    sum.add(nanoseconds)
    if nanoseconds > longest.load(ordering: .relaxed) { longest.store(nanoseconds, ordering: .relaxed) }
  }

  /// The counts so far.
  ///
  /// While the owner records, a duration may already be in the buckets and not yet in the sum. The count is the sum of
  /// the buckets, so quantiles always agree with it.
  package func snapshot() -> LatencySnapshot {
    var counts: [UInt64] = []
    counts.reserveCapacity(LatencyBuckets.count)
    for index in buckets.indices { counts.append(buckets[index].load(ordering: .relaxed)) }
    return LatencySnapshot(counts: counts, sum: sum.value, maximum: longest.load(ordering: .relaxed))
  }
}
