/// How durations are sorted: sixteen buckets of equal width for every power of two of nanoseconds.
///
///     0 1 2 … 15 | 16 17 … 31 | 32 34 … 62 | 64 68 … | … | 2⁴⁴ … | 2⁴⁵ and more
///      exact        exact        2 wide       4 wide
///
/// The middle of a bucket differs by at most 1/32 from each duration in it. The last bucket begins at 2⁴⁵ ns, which is
/// 9.8 hours, and has no upper end.
package enum LatencyBuckets {
  package static let count = 673

  static let last = count - 1
  private static let firstBeyond: UInt64 = 1 << 45

  /// The bucket of a duration.
  @inline(__always)
  static func index(of nanoseconds: UInt64) -> Int {
    if nanoseconds < 16 { return Int(truncatingIfNeeded: nanoseconds) }
    if nanoseconds >= firstBeyond { return last }
    let exponent = 63 &- nanoseconds.leadingZeroBitCount
    let step = Int(truncatingIfNeeded: nanoseconds &>> UInt64(truncatingIfNeeded: exponent &- 4)) & 15
    return (exponent &- 3) &* 16 &+ step
  }

  /// The shortest duration of a bucket, in nanoseconds.
  static func lowerBound(of index: Int) -> UInt64 {
    if index < 16 { return UInt64(index) }
    if index >= last { return firstBeyond }
    return UInt64(16 + index % 16) << UInt64(index / 16 - 1)
  }

  /// The duration that represents a bucket, in nanoseconds; for the last bucket its lower bound.
  static func middle(of index: Int) -> UInt64 {
    let lower = lowerBound(of: index)
    return index >= last ? lower : lower + (lowerBound(of: index + 1) - lower) / 2
  }
}
