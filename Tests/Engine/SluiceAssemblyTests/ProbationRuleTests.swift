import Testing

@testable import SluiceAssembly

/// The rule that decides when a new snapshot is worse than the previous one.
@Suite struct ProbationRuleTests {
  private typealias Sample = ProbationRule.Sample

  private func breach(_ new: Sample, _ old: Sample = Sample(ended: 1000), floor: Int = 100) -> String? {
    ProbationRule(floor: floor).breach(new, against: old)
  }

  @Test func `a snapshot with too few transactions is not judged`() {
    #expect(breach(Sample(ended: 99, failed: 99)) == nil)
    #expect(breach(Sample(ended: 100, failed: 100)) != nil)
  }

  @Test func `if the previous snapshot had no failures, a failure rate of at most five percent is allowed`() {
    #expect(breach(Sample(ended: 100, failed: 5)) == nil)
    #expect(breach(Sample(ended: 100, failed: 6))?.hasPrefix("6.0 % of its transactions failed, 0.0 %") == true)
  }

  @Test func `if the previous snapshot had failures, twice its failure rate plus five percent is allowed`() {
    let old = Sample(ended: 200, failed: 20)
    #expect(breach(Sample(ended: 1000, failed: 250), old) == nil)
    #expect(breach(Sample(ended: 1000, failed: 251), old) != nil)
  }

  @Test func `missed deadlines, and faults with violations, count separately from failures`() {
    #expect(
      breach(Sample(ended: 100, timeouts: 6))?.contains("6.0 missed deadlines per 100 transactions, 0.0 with") == true)
    #expect(
      breach(Sample(ended: 100, violations: 6))?.contains("6.0 faults and violations per 100 transactions") == true)
    #expect(breach(Sample(ended: 100, failed: 5, timeouts: 5, violations: 5)) == nil)
  }

  @Test func `the reason names each rate that is worse`() {
    #expect(
      breach(Sample(ended: 100, failed: 100, timeouts: 99, violations: 5), Sample(ended: 100, failed: 1))
        == "100.0 % of its transactions failed, 1.0 % with the previous snapshot; 99.0 missed deadlines per 100 "
        + "transactions, 0.0 with the previous snapshot; after 100 transactions")
  }

  @Test func `a previous snapshot without transactions counts as a snapshot without failures`() {
    #expect(breach(Sample(ended: 100, failed: 5), Sample()) == nil)
    #expect(breach(Sample(ended: 100, failed: 6), Sample()) != nil)
  }

  @Test func `a snapshot that always fails passes if the previous one always failed too`() {
    #expect(breach(Sample(ended: 100, failed: 100), Sample(ended: 10, failed: 10)) == nil)
  }
}
