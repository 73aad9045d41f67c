import Testing

@testable import SluiceAssembly
@testable import SluicePipeline

/// The rule that decides whether a candidate is worse than the control.
@Suite struct CanaryRuleTests {
  private static func arm(_ ended: UInt64, unhealthy: UInt64 = 0, _ durations: [(UInt64, Int)] = []) -> ArmCounts {
    let histogram = LatencyHistogram()
    for (milliseconds, count) in durations {
      for _ in 0..<count { histogram.record(nanoseconds: milliseconds * 1_000_000) }
    }
    return ArmCounts(ended: ended, unhealthy: unhealthy, duration: histogram.snapshot())
  }

  @Test func `the reason names the counts of both arms`() {
    var rule = CanaryRule()
    #expect(
      rule.breach(Self.arm(1600, unhealthy: 31), against: Self.arm(14400, unhealthy: 4))
        == "failed 31 of 1,600 against 4 of 14,400, p = 3e-27")
  }

  @Test func `with fewer than 100 transactions of the candidate there is no look`() {
    var rule = CanaryRule()
    #expect(rule.breach(Self.arm(99, unhealthy: 99), against: Self.arm(900)) == nil)
    #expect(rule.breach(Self.arm(100, unhealthy: 100), against: Self.arm(900)) != nil)
  }

  @Test func `the rule looks again only when the number of transactions has doubled`() {
    var rule = CanaryRule()
    #expect(rule.breach(Self.arm(120), against: Self.arm(900)) == nil)
    #expect(rule.nextLook == 240)
    #expect(rule.breach(Self.arm(239, unhealthy: 239), against: Self.arm(900)) == nil)
    #expect(rule.breach(Self.arm(240, unhealthy: 240), against: Self.arm(900)) != nil)
  }

  @Test func `there are at most 15 looks`() {
    var rule = CanaryRule()
    for look in 0..<15 { #expect(rule.breach(Self.arm(100 << look), against: Self.arm(900)) == nil) }
    #expect(rule.nextLook == nil)
    #expect(rule.breach(Self.arm(1 << 40, unhealthy: 1 << 40), against: Self.arm(900)) == nil)
  }

  @Test func `a candidate that fails as often as the control is not worse`() {
    var rule = CanaryRule()
    #expect(rule.breach(Self.arm(1000, unhealthy: 1000), against: Self.arm(9000, unhealthy: 9000)) == nil)
    #expect(rule.breach(Self.arm(2000, unhealthy: 110), against: Self.arm(18000, unhealthy: 900)) == nil)
  }

  @Test func `if the control has had no transactions, nothing can be compared`() {
    var rule = CanaryRule()
    #expect(rule.breach(Self.arm(100, unhealthy: 100), against: Self.arm(0)) == nil)
  }

  @Test func `a median is worse if it is significantly longer, and by more than a tenth`() {
    let control = Self.arm(4000, [(10, 4000)])
    var rule = CanaryRule()
    let reason = rule.breach(Self.arm(400, [(12, 400)]), against: control)
    #expect(reason == "had a median of 11.8 ms against 10.0 ms, p < 1e-300")
    rule = CanaryRule()
    #expect(rule.breach(Self.arm(400, [(11, 400)]), against: control) == nil)
    rule = CanaryRule()
    #expect(rule.breach(Self.arm(399, [(12, 399)]), against: control) == nil)
    rule = CanaryRule(judgesLatency: false)
    #expect(rule.breach(Self.arm(400, [(12, 400)]), against: control) == nil)
  }

  @Test func `a tail is worse if significantly more transactions are slower than 99 % of the control's`() {
    let control = Self.arm(3600, [(10, 3580), (50, 20)])
    var rule = CanaryRule()
    #expect(
      rule.breach(Self.arm(400, [(10, 384), (100, 16)]), against: control)
        == "slower than 10.2 ms: 16 of 400 against 20 of 3,600, p = 8e-8")
    rule = CanaryRule()
    #expect(rule.breach(Self.arm(400, [(10, 397), (100, 3)]), against: control) == nil)
  }

  @Test func `a shorter latency is not worse`() {
    var rule = CanaryRule()
    #expect(rule.breach(Self.arm(400, [(5, 400)]), against: Self.arm(3600, [(10, 3600)])) == nil)
  }

  @Test(arguments: [UInt64(60), 80, 90, 95, 96, 97, 98, 99, 100])
  func `a probability too small for a number is shown as such`(_ count: UInt64) {
    var rule = CanaryRule()
    let reason = rule.breach(Self.arm(100, unhealthy: count), against: Self.arm(60_000, unhealthy: 1))
    #expect(reason?.contains(", p ") == true)
  }

  @Test func `a reason names every difference`() {
    var rule = CanaryRule()
    let reason = rule.breach(Self.arm(400, unhealthy: 40, [(100, 400)]), against: Self.arm(3600, [(10, 3600)]))
    #expect(reason?.hasPrefix("failed 40 of 400 against 0 of 3,600, p = ") == true)
    #expect(reason?.contains("; had a median of ") == true)
    #expect(reason?.contains("; slower than ") == true)
  }

  @Test func `the counts since a step began leave out what was before`() {
    let histogram = LatencyHistogram()
    histogram.record(nanoseconds: 5)
    let before = ArmCounts(ended: 1, unhealthy: 1, duration: histogram.snapshot())
    histogram.record(nanoseconds: 7)
    histogram.record(nanoseconds: 9)
    let since = ArmCounts(ended: 3, unhealthy: 1, duration: histogram.snapshot()).since(before)
    #expect(since.ended == 2 && since.unhealthy == 0)
    #expect(since.duration.count == 2 && since.duration.sum == 16 && since.duration.p50 == 7)
    #expect(before.since(before).duration.isEmpty)
  }
}
