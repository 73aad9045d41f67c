import SluiceMessages

/// The time in a signature.
package enum SigningTime {
  /// `20260131T235959Z`.
  ///
  /// - Parameter seconds: seconds since 1970; an earlier time counts as 1970.
  package static func text(_ seconds: Int) -> String {
    let (days, rest) = max(0, seconds).quotientAndRemainder(dividingBy: 86_400)
    let date = DateFields(daysSince1970: Int64(days))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = two(rest / 3600) + two(rest / 60 % 60) + two(rest % 60)
    return "\(date.year)\(two(date.month))\(two(date.day))T\(time)Z"
  }
}
