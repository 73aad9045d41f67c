import Glibc
import Testing

@testable import SluiceAssembly
@testable import SluicePipeline

/// What the rule finds in simulated traffic, with a tenth of the requests on the candidate, and how soon.
///
/// Makes 100 runs of each case, or 1,000 with `SLUICE_SOAK=1`. The seeds are fixed, so the results are always the same.
@Suite struct CanarySimulationTests {
  private static let runs = getenv("SLUICE_SOAK") != nil ? 1000 : 100

  /// A build in the simulation: its transactions are independent, and their latency is lognormal.
  private struct Build {
    var failureRate = 0.001
    var factor = 1.0
    /// The share of transactions that take ten times as long.
    var tail = 0.0
  }

  /// Quantiles of the standard lognormal distribution, from which a uniform number chooses.
  private static func quantiles(sigma: Double) -> [Double] {
    // Box and Muller's method with fixed seeds gives a sample of the distribution, whose order does not matter.
    var random = RandomBits(seed: 1)
    return (0..<65536).map { _ in
      let (first, second) = (unit(&random), unit(&random))
      return exp(sigma * (-2 * log(1 - first)).squareRoot() * cos(2 * .pi * second))
    }
  }

  private static func unit(_ random: inout RandomBits) -> Double { Double(random.next() >> 11) / Double(1 << 53) }

  private struct Arm {
    let build: Build
    let histogram = LatencyHistogram()
    var counts = ArmCounts()

    mutating func run(_ count: Int, _ quantiles: [Double], _ random: inout RandomBits) {
      for _ in 0..<count {
        let bits = random.next()
        var milliseconds = 10 * build.factor * quantiles[Int(bits & 0xffff)]
        if unit(&random) < build.tail { milliseconds *= 10 }
        histogram.record(nanoseconds: UInt64(milliseconds * 1e6))
        if unit(&random) < build.failureRate { counts.unhealthy += 1 }
      }
      counts.ended += UInt64(count)
      counts.duration = histogram.snapshot()
    }
  }

  /// The candidate's transactions at the look that found it worse, for each run; nil where none did.
  private static func looks(
    at candidate: Build, against control: Build = Build(), upTo most: UInt64, sigma: Double = 0.5
  ) -> [UInt64?] {
    let quantiles = quantiles(sigma: sigma)
    return (0..<runs).map { run in
      var random = RandomBits(seed: UInt64(run) + 7)
      var rule = CanaryRule()
      var (ours, theirs) = (Arm(build: candidate), Arm(build: control))
      while let look = rule.nextLook, look <= most {
        let more = Int(look - ours.counts.ended)
        ours.run(more, quantiles, &random)
        theirs.run(more * 9, quantiles, &random)
        if rule.breach(ours.counts, against: theirs.counts) != nil { return look }
      }
      return nil
    }
  }

  private static func share(_ looks: [UInt64?], by most: UInt64) -> Double {
    Double(looks.count { $0.map { $0 <= most } ?? false }) / Double(looks.count)
  }

  @Test func `failures of 1 % instead of 0.1 % are found`() {
    let looks = Self.looks(at: Build(failureRate: 0.01), upTo: 3200)
    #expect(Self.share(looks, by: 1600) >= 0.95)
    #expect(Self.share(looks, by: 3200) >= 0.99)
  }

  @Test func `a tail of 2 % that takes ten times as long is found`() {
    let looks = Self.looks(at: Build(tail: 0.02), upTo: 3200)
    #expect(Self.share(looks, by: 1600) >= 0.95)
    #expect(Self.share(looks, by: 3200) >= 0.99)
  }

  @Test func `a median that is a fifth longer is found`() {
    #expect(Self.share(Self.looks(at: Build(factor: 1.2), upTo: 800), by: 800) >= 0.99)
  }

  @Test(arguments: [0.001, 0.05])
  func `identical builds are taken for worse in at most 1 % of steps of 40,000 requests`(failureRate: Double) {
    let build = Build(failureRate: failureRate)
    #expect(Self.share(Self.looks(at: build, against: build, upTo: 4000), by: 4000) <= 0.01)
  }

  @Test func `with a latency that varies more, the results are reported`() {
    for (name, build) in [
      ("identical", Build()), ("1 % failures", Build(failureRate: 0.01)), ("2 % tail", Build(tail: 0.02)),
      ("+20 % median", Build(factor: 1.2)),
    ] {
      let looks = Self.looks(at: build, upTo: 3200, sigma: 1)
      print(
        "sigma 1.0, \(name): found by 800, 1,600, 3,200 candidate requests:",
        [800, 1600, 3200].map { Self.share(looks, by: $0) })
    }
  }
}
