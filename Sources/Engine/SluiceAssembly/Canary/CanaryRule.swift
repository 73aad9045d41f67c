import Glibc
import SluicePipeline

/// Decides whether a candidate is worse than the control, which serves the other transactions at the same time.
///
/// Three tests compare what happened since the step began: the share of unhealthy transactions, the latency, and the
/// share of slow transactions. A test that is repeated often enough takes even an identical build for a worse one. So
/// the rule looks only when the candidate's transactions have doubled since its last look, and at most ``mostLooks``
/// times. At each look, each test is wrong about an identical build with the probability ``errorRate``.
package struct CanaryRule: Sendable {
  private typealias Share = Significance.Share

  /// The candidate's transactions at the first look.
  package static let firstLook: UInt64 = 100
  /// The candidate's transactions from which on latency is compared.
  package static let firstLatencyLook: UInt64 = 400
  package static let mostLooks = 15
  /// The probability with which one test at one look takes a good build for a bad one.
  package static let errorRate = 0.0005
  /// A median is worse only if it is this much longer, because with many transactions a difference of no importance
  /// becomes significant too.
  private static let medianFactor = 1.1
  private static let slowFactor = 1.25

  private let judgesLatency: Bool
  /// The number of the candidate's transactions at which the rule looks next; nil after the last look.
  package private(set) var nextLook: UInt64? = firstLook
  /// The number of the candidate's transactions at the last look.
  package private(set) var lastLook: UInt64 = 0
  private var looks = 0

  package init(judgesLatency: Bool = true) { self.judgesLatency = judgesLatency }

  /// Why the candidate is worse than the control. Nil if it is not worse, or if it is not yet time for a look. The text
  /// names the counts of both arms.
  /// - Parameters: what happened since the step began.
  package mutating func breach(_ candidate: ArmCounts, against control: ArmCounts) -> String? {
    guard let due = nextLook, candidate.ended >= due else { return nil }
    looks += 1
    lastLook = candidate.ended
    nextLook = looks < Self.mostLooks ? candidate.ended * 2 : nil
    var breaches = [Self.unhealthy(candidate, control)]
    if judgesLatency, candidate.ended >= Self.firstLatencyLook {
      breaches += [Self.median(candidate.duration, control.duration), Self.slow(candidate.duration, control.duration)]
    }
    let found = breaches.compactMap(\.self)
    return found.isEmpty ? nil : found.joined(separator: "; ")
  }

  /// How many unhealthy transactions of the candidate are a breach at the next look, if the control's counts stay what they
  /// are. Nil if no number is, or after the last look.
  package func limit(against control: ArmCounts) -> UInt64? {
    guard let look = nextLook else { return nil }
    let theirs = Share(control.unhealthy, of: control.ended)
    var (least, most) = (UInt64(0), look + 1)
    while least < most {
      let middle = (least + most) / 2
      if Significance.fisher(Share(middle, of: look), theirs) < Self.errorRate {
        most = middle
      } else {
        least = middle + 1
      }
    }
    return least <= look ? least : nil
  }

  private static func unhealthy(_ candidate: ArmCounts, _ control: ArmCounts) -> String? {
    worse(Share(candidate.unhealthy, of: candidate.ended), Share(control.unhealthy, of: control.ended), "failed")
  }

  private static func median(_ candidate: LatencySnapshot, _ control: LatencySnapshot) -> String? {
    guard Double(candidate.p50) > Double(control.p50) * medianFactor else { return nil }
    let p = Significance.mannWhitney(candidate, control)
    guard p < errorRate else { return nil }
    let (ours, theirs) = (Figures.time(nanoseconds: candidate.p50), Figures.time(nanoseconds: control.p50))
    return "had a median of \(ours) against \(theirs), \(text(p))"
  }

  /// Compares the shares of durations above the control's 99th percentile.
  private static func slow(_ candidate: LatencySnapshot, _ control: LatencySnapshot) -> String? {
    let limit = control.p99
    guard Double(candidate.p99) > Double(limit) * slowFactor else { return nil }
    return worse(
      Share(candidate.count(above: limit), of: candidate.count), Share(control.count(above: limit), of: control.count),
      "slower than \(Figures.time(nanoseconds: limit)):")
  }

  private static func worse(_ ours: Share, _ theirs: Share, _ what: String) -> String? {
    let p = Significance.fisher(ours, theirs)
    return p < errorRate ? "\(what) \(ours) against \(theirs), \(text(p))" : nil
  }

  /// `p = 3e-13`
  private static func text(_ p: Double) -> String {
    // Much smaller numbers cannot be represented exactly, or at all.
    guard p >= 1e-300 else { return "p < 1e-300" }
    let exponent = floor(log10(p))
    let digit = Int((p / pow(10, exponent)).rounded())
    return digit == 10 ? "p = 1e\(Int(exponent) + 1)" : "p = \(digit)e\(Int(exponent))"
  }
}

extension Significance.Share: CustomStringConvertible {
  package var description: String { "\(Figures.count(count)) of \(Figures.count(total))" }
}
