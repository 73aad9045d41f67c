import SluicePipeline
import SluiceTestKit
import Testing

struct LatencyHistogramTests {
  @Test func `all values of an empty histogram are zero`() {
    let snapshot = LatencyHistogram().snapshot()
    #expect(snapshot.isEmpty)
    #expect(snapshot == LatencySnapshot())
    #expect([snapshot.count, snapshot.sum, snapshot.maximum, snapshot.mean, snapshot.p50] == [0, 0, 0, 0, 0])
  }

  @Test(arguments: [0, 1, 15, 16, 17, 1_000_000, 1 << 45, UInt64.max])
  func `if one duration is recorded, every quantile differs from it by at most the error bound`(_ duration: UInt64) {
    let snapshot = histogram([duration]).snapshot()
    #expect(snapshot.count == 1)
    #expect(snapshot.sum == duration)
    #expect(snapshot.maximum == duration)
    for fraction in [-1, 0, 0.001, 0.5, 0.999, 1, 2] {
      expectClose(snapshot.quantile(fraction), duration)
    }
  }

  @Test func `durations below 32 ns are kept exactly`() {
    let snapshot = histogram((0..<32).map { UInt64($0) }).snapshot()
    for rank in 1...32 { #expect(snapshot.quantile(Double(rank) / 32) == UInt64(rank - 1)) }
  }

  @Test(arguments: 1...8)
  func `quantiles agree with the quantiles of the sorted durations`(_ seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let durations = (0..<20_000).map { _ in
      UInt64.random(in: 0..<(1 << UInt64.random(in: 1...44, using: &random)), using: &random)
    }
    let sorted = durations.sorted()
    let snapshot = histogram(durations).snapshot()
    for fraction in [0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999] {
      let rank = Int((fraction * Double(sorted.count)).rounded(.up))
      expectClose(snapshot.quantile(fraction), sorted[rank - 1])
    }
    #expect(snapshot.quantile(1) == sorted[sorted.count - 1])
    #expect(snapshot.sum == durations.reduce(0, +))
    #expect(snapshot.mean == durations.reduce(0, +) / 20_000)
  }

  @Test func `merging is the same as recording everything in one histogram`() {
    var random = SeededRandom(seed: 7)
    let parts = (0..<4).map { _ in (0..<500).map { _ in random.next() >> 30 } }
    var merged = LatencySnapshot()
    for part in parts { merged.merge(histogram(part).snapshot()) }
    merged.merge(LatencySnapshot())
    #expect(merged == histogram(parts.flatMap { $0 }).snapshot())
  }

  @Test func `counts can be read while another thread records, and they never decrease or exceed the final total`()
    async
  {
    let histogram = LatencyHistogram()
    let total: UInt64 = 300_000
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for duration in 1...total { histogram.record(nanoseconds: duration) } }
      group.addTask {
        var before = histogram.snapshot()
        while before.count < total {
          let now = histogram.snapshot()
          #expect(now.count >= before.count && now.sum >= before.sum && now.maximum >= before.maximum)
          #expect(now.count <= total && now.p50 <= now.maximum)
          before = now
          await Task.yield()
        }
      }
    }
    #expect(histogram.snapshot().count == total)
    #expect(histogram.snapshot().sum == total * (total + 1) / 2)
  }

  @Test func `each duration is counted between the OpenTelemetry bounds to which it belongs`() {
    let milliseconds: [UInt64] = [1, 4, 6, 9, 20, 60, 90, 300, 900, 2000, 6000, 9000, 11_000, 60_000]
    let counts = histogram(milliseconds.map { $0 * 1_000_000 }).snapshot()
      .counts(withinSeconds: LatencySnapshot.openTelemetryBounds)
    #expect(counts == [2, 2, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 2])
  }

  private func histogram(_ durations: [UInt64]) -> LatencyHistogram {
    let histogram = LatencyHistogram()
    for duration in durations { histogram.record(nanoseconds: duration) }
    return histogram
  }

  private func expectClose(_ estimate: UInt64, _ exact: UInt64, sourceLocation: SourceLocation = #_sourceLocation) {
    let distance = max(estimate, exact) - min(estimate, exact)
    #expect(distance <= exact / 32, "\(estimate) instead of \(exact)", sourceLocation: sourceLocation)
  }
}
