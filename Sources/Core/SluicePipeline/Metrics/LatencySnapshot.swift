/// Durations that were counted up to one moment, perhaps by several threads together. All durations are nanoseconds.
public struct LatencySnapshot: Sendable, Hashable {
  /// One count for each bucket; empty if nothing was recorded.
  package private(set) var counts: [UInt64]
  /// How many durations were recorded.
  public private(set) var count: UInt64
  /// The sum of all durations; wraps around after 584 years.
  public private(set) var sum: UInt64
  /// The longest duration, exactly.
  public private(set) var maximum: UInt64

  package init() { self.init(counts: [], sum: 0, maximum: 0) }

  init(counts: [UInt64], sum: UInt64, maximum: UInt64) {
    count = counts.reduce(0, &+)
    self.counts = count == 0 ? [] : counts
    self.sum = sum
    self.maximum = maximum
  }

  package var isEmpty: Bool { count == 0 }

  /// The arithmetic mean; 0 if nothing was recorded.
  public var mean: UInt64 { count == 0 ? 0 : sum / count }

  /// The duration that is not exceeded by a given fraction of all durations, with an error of at most 1/32; 0 if
  /// nothing was recorded.
  ///
  /// The result is never more than ``maximum``. For a fraction of 1 or more the result is ``maximum``; for 0 or less it
  /// is the shortest duration.
  package func quantile(_ fraction: Double) -> UInt64 {
    guard count > 0 else { return 0 }
    guard fraction < 1 else { return maximum }
    let rank = UInt64(max(1, (max(0, fraction) * Double(count)).rounded(.up)))
    var passed: UInt64 = 0
    for index in counts.indices {
      passed += counts[index]
      if passed >= rank {
        return index == LatencyBuckets.last ? maximum : min(LatencyBuckets.middle(of: index), maximum)
      }
    }
    return maximum
  }

  /// The median in nanoseconds, with an error of at most 1/32; 0 if nothing was recorded.
  public var p50: UInt64 { quantile(0.5) }
  /// The duration in nanoseconds that 90 % of all durations did not exceed, with the same precision as ``p50``.
  public var p90: UInt64 { quantile(0.9) }
  /// The duration in nanoseconds that 99 % of all durations did not exceed, with the same precision as ``p50``.
  public var p99: UInt64 { quantile(0.99) }
  /// The duration in nanoseconds that 99.9 % of all durations did not exceed, with the same precision as ``p50``.
  public var p999: UInt64 { quantile(0.999) }

  /// The counts of groups of four buckets, so that there are four groups for every power of two; empty if nothing was
  /// recorded.
  package var groups: [UInt64] {
    stride(from: 0, to: counts.count, by: 4).map { counts[$0..<min($0 + 4, counts.count)].reduce(0, &+) }
  }

  /// The shortest duration of a group, in nanoseconds.
  package static func lowerBound(ofGroup index: Int) -> UInt64 { LatencyBuckets.lowerBound(of: 4 * index) }

  /// How many durations lie in the buckets after that of the given one.
  package func count(above nanoseconds: UInt64) -> UInt64 {
    counts.dropFirst(LatencyBuckets.index(of: nanoseconds) + 1).reduce(0, &+)
  }

  /// The durations that were recorded after an earlier snapshot of the same histograms. ``maximum`` is that of all
  /// durations, because a histogram does not keep the others.
  package func since(_ earlier: LatencySnapshot) -> LatencySnapshot {
    guard !earlier.isEmpty else { return self }
    return LatencySnapshot(
      counts: zip(counts, earlier.counts).map { $0 &- $1 }, sum: sum &- earlier.sum, maximum: maximum)
  }

  /// Adds the counts of another histogram.
  package mutating func merge(_ other: LatencySnapshot) {
    if counts.isEmpty {
      counts = other.counts
    } else {
      for index in other.counts.indices { counts[index] &+= other.counts[index] }
    }
    count &+= other.count
    sum &+= other.sum
    maximum = max(maximum, other.maximum)
  }
}
