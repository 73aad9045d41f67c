import SluicePipeline

/// Counts how many durations fall into each bucket. The bounds of the buckets are those that OpenTelemetry recommends.
/// All counters together take 128 bytes.
///
/// One thread records, without lock or allocation; any thread can read at the same time.
struct DurationHistogram: ~Copyable, Sendable {
  /// The longest duration of each bucket, in nanoseconds. One more bucket counts longer durations.
  private static let bounds: InlineArray<14, UInt64> = InlineArray {
    UInt64((LatencySnapshot.openTelemetryBounds[$0] * 1e9).rounded())
  }

  private let buckets: InlineArray<15, SingleWriterCounter>
  private let sum = SingleWriterCounter()

  init() { buckets = InlineArray { _ in SingleWriterCounter() } }

  func record(nanoseconds: UInt64) {
    var index = 0
    while index < Self.bounds.count, nanoseconds > Self.bounds[index] { index += 1 }
    buckets[index].add()
    sum.add(nanoseconds)
  }

  func snapshot() -> DurationCounts {
    DurationCounts(counts: buckets.indices.map { buckets[$0].value }, sumNanoseconds: sum.value)
  }
}

/// The number of durations in each interval between ``bounds``, and the sum of all durations.
package struct DurationCounts: Sendable, Hashable {
  /// The bounds of `http.client.request.duration`, in seconds.
  package static let bounds = LatencySnapshot.openTelemetryBounds

  /// One more element than there are bounds: the element at `i` counts durations above bound `i - 1` and up to bound
  /// `i`.
  package private(set) var counts: [UInt64]
  /// The sum of all durations, in nanoseconds.
  package private(set) var sumNanoseconds: UInt64

  init(counts: [UInt64] = [UInt64](repeating: 0, count: bounds.count + 1), sumNanoseconds: UInt64 = 0) {
    self.counts = counts
    self.sumNanoseconds = sumNanoseconds
  }

  /// How many durations were recorded.
  package var count: UInt64 { counts.reduce(0, &+) }

  mutating func merge(_ other: DurationCounts) {
    for index in other.counts.indices { counts[index] &+= other.counts[index] }
    sumNanoseconds &+= other.sumNanoseconds
  }
}
