import SluiceTestKit
import Testing

@testable import SluicePipeline

struct LatencyBucketsTests {
  @Test func `every bucket begins where the previous one ends`() {
    for index in 0..<LatencyBuckets.count {
      let lower = LatencyBuckets.lowerBound(of: index)
      #expect(LatencyBuckets.index(of: lower) == index)
      if index > 0 { #expect(LatencyBuckets.index(of: lower - 1) == index - 1) }
    }
  }

  @Test func `the middle of a bucket differs by at most 1/32 from any duration in the bucket`() {
    var random = SeededRandom(seed: 1)
    for _ in 0..<100_000 {
      let duration = random.next() >> UInt64.random(in: 19..<64, using: &random)
      let middle = LatencyBuckets.middle(of: LatencyBuckets.index(of: duration))
      let distance = max(middle, duration) - min(middle, duration)
      #expect(distance * 32 <= duration, "\(duration) ns is shown as \(middle) ns")
    }
  }

  @Test func `durations of ten hours and more share the last bucket`() {
    #expect(LatencyBuckets.index(of: (1 << 45) - 1) == LatencyBuckets.count - 2)
    #expect(LatencyBuckets.index(of: 1 << 45) == LatencyBuckets.count - 1)
    #expect(LatencyBuckets.index(of: .max) == LatencyBuckets.count - 1)
  }
}
