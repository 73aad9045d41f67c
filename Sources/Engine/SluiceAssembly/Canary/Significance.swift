import Glibc
package import SluicePipeline

/// One-sided tests of the hypothesis that a candidate is not worse than a control. Each returns p: the probability that
/// chance alone makes the candidate look this bad or worse.
package enum Significance {
  /// How often something happened to the transactions of an arm.
  package struct Share: Sendable, Hashable {
    package var count: UInt64
    package var total: UInt64

    package init(_ count: UInt64, of total: UInt64) {
      // The counters of an arm are read while its loops write them, so that a part can be ahead of the whole.
      self.count = min(count, total)
      self.total = total
    }

    /// The interval that has the true share with a probability of 95 % (E. B. Wilson, "Probable Inference, the Law of
    /// Succession, and Statistical Inference", Journal of the American Statistical Association 22, 1927).
    package var interval: ClosedRange<Double> {
      guard total > 0 else { return 0...1 }
      let (n, z) = (Double(total), 1.959963984540054)
      let share = Double(count) / n
      let middle = share + z * z / (2 * n)
      let half = z * (share * (1 - share) / n + z * z / (4 * n * n)).squareRoot()
      let scale = 1 + z * z / n
      return max(0, (middle - half) / scale)...min(1, (middle + half) / scale)
    }
  }

  /// Fisher's exact test: whether the candidate's share is larger (R. A. Fisher, "The Logic of Inductive Inference",
  /// Journal of the Royal Statistical Society 98, 1935).
  package static func fisher(_ candidate: Share, _ control: Share) -> Double {
    // The candidate's count has a hypergeometric distribution: the candidate draws `drawn` of `total` transactions, and
    // `marked` of the total are marked.
    let (drawn, total) = (Double(candidate.total), Double(candidate.total) + Double(control.total))
    let (count, marked) = (Double(candidate.count), Double(candidate.count) + Double(control.count))
    let (least, most) = (max(0, drawn + marked - total), min(drawn, marked))
    guard count > least else { return 1 }
    // The shorter tail is added up, from its largest term outwards.
    guard count * total <= drawn * marked else { return tail(from: count, to: most, drawn, marked, total) }
    return 1 - tail(from: count - 1, to: least, drawn, marked, total)
  }

  /// The sum of the hypergeometric probabilities from one count to another one, which is farther from the mean.
  private static func tail(
    from first: Double, to last: Double, _ drawn: Double, _ marked: Double, _ total: Double
  ) -> Double {
    func ways(_ part: Double, of whole: Double) -> Double {
      logarithmicGamma(whole + 1) - logarithmicGamma(part + 1) - logarithmicGamma(whole - part + 1)
    }
    var term = exp(ways(first, of: marked) + ways(drawn - first, of: total - marked) - ways(drawn, of: total))
    var (sum, count) = (term, first)
    let rest = total - marked - drawn
    while count != last, term > sum * Double.ulpOfOne {
      if last > first {
        term *= (marked - count) / (count + 1) * (drawn - count) / (rest + count + 1)
        count += 1
      } else {
        term *= count / (marked - count + 1) * (rest + count) / (drawn - count + 1)
        count -= 1
      }
      sum += term
    }
    return min(sum, 1)
  }

  /// `lgamma` without its global variable for the sign.
  private static func logarithmicGamma(_ value: Double) -> Double {
    var sign: Int32 = 0
    return lgamma_r(value, &sign)
  }

  /// The test of Mann and Whitney: whether the candidate's durations tend to be longer ("On a Test of Whether one of Two
  /// Random Variables is Stochastically Larger than the Other", Annals of Mathematical Statistics 18, 1947). Durations
  /// in the same bucket count as equal. It uses the normal approximation, with the corrections for equal values and for
  /// continuity, so each arm should have 20 durations or more.
  package static func mannWhitney(_ candidate: LatencySnapshot, _ control: LatencySnapshot) -> Double {
    guard !candidate.isEmpty, !control.isEmpty else { return 1 }
    let (ours, theirs) = (Double(candidate.count), Double(control.count))
    let all = ours + theirs
    var (larger, below, ties) = (0.0, 0.0, 0.0)
    for (own, other) in zip(candidate.counts, control.counts) where own | other != 0 {
      let (own, other) = (Double(own), Double(other))
      larger += own * (below + other / 2)
      below += other
      let equal = own + other
      ties += equal * (equal * equal - 1)
    }
    let variance = ours * theirs / 12 * (all + 1 - ties / (all * (all - 1)))
    guard variance > 0 else { return 1 }
    let deviation = (larger - ours * theirs / 2 - 0.5) / variance.squareRoot()
    return erfc(deviation / 2.0.squareRoot()) / 2
  }
}
