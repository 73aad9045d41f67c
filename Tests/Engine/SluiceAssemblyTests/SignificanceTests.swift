import SluiceSupport
import SluiceTestKit
import Testing

@testable import SluiceAssembly
@testable import SluicePipeline

/// The tests of hypotheses, compared with SciPy.
@Suite struct SignificanceTests {
  /// `Tests/Fixtures/Cases/significance/values.py` has computed the values with SciPy.
  private static func lines(_ test: String) throws -> [[Substring]] {
    let text = try FileTree.readText(RepositoryRoot.path("Tests/Fixtures/Cases/significance/values.txt"))
    return text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0[0] == test }
      .map { Array($0.dropFirst()) }
  }

  private static func isEqual(_ value: Double, _ expected: Double) -> Bool {
    abs(value - expected) <= max(expected * 1e-6, 1e-290)
  }

  @Test func `p of Fisher's test is that of SciPy`() throws {
    let lines = try Self.lines("fisher")
    #expect(lines.count == 222)
    for line in lines {
      let numbers = try line.prefix(4).map { try #require(UInt64($0)) }
      let p = Significance.fisher(
        Significance.Share(numbers[0], of: numbers[1]), Significance.Share(numbers[2], of: numbers[3]))
      #expect(Self.isEqual(p, try #require(Double(line[4]))), "\(line): \(p)")
    }
  }

  @Test func `p of Mann and Whitney's test is that of SciPy`() throws {
    let lines = try Self.lines("mannwhitney")
    #expect(lines.count == 100)
    for line in lines {
      let arms = try line.prefix(2).map { text in
        let histogram = LatencyHistogram()
        for (value, count) in text.split(separator: ",").enumerated() {
          for _ in 0..<(try #require(Int(count))) { histogram.record(nanoseconds: UInt64(value)) }
        }
        return histogram.snapshot()
      }
      let p = Significance.mannWhitney(arms[0], arms[1])
      #expect(Self.isEqual(p, try #require(Double(line[2]))), "\(line): \(p)")
    }
  }

  @Test func `arms without transactions are not different`() {
    let one = LatencyHistogram()
    one.record(nanoseconds: 5)
    #expect(Significance.fisher(Significance.Share(0, of: 0), Significance.Share(0, of: 0)) == 1)
    #expect(Significance.fisher(Significance.Share(5, of: 5), Significance.Share(0, of: 0)) == 1)
    #expect(Significance.mannWhitney(LatencySnapshot(), LatencySnapshot()) == 1)
    #expect(Significance.mannWhitney(one.snapshot(), LatencySnapshot()) == 1)
    #expect(Significance.mannWhitney(one.snapshot(), one.snapshot()) == 1)
  }

  @Test func `a part that was read after its whole is not larger than the whole`() {
    #expect(Significance.Share(101, of: 100).count == 100)
  }
}
