/// The text form of durations in documents and configurations: an integer or decimal with `ms`, `s`, `m` or `h`.
public enum DurationText {
  /// Reads `250ms`, `1.5s`, `2m` or `1h`; nil for any other spelling, a sign, or more than a hundred years. Parts below
  /// a nanosecond are cut off.
  public static func duration(_ text: String) -> Duration? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard let unit = nanoseconds[String(text[digits.endIndex...])] else { return nil }
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }), parts[0].utf8.count <= 12,
      let whole = Int64(parts[0])
    else { return nil }
    let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
    guard !overflow, product <= maximum else { return nil }
    return .nanoseconds(product + (parts.count == 2 ? fraction(parts[1], of: unit) : 0))
  }

  /// The shortest spelling that is exact down to a millisecond.
  public static func text(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    if milliseconds % 1000 != 0 || milliseconds == 0 { return "\(milliseconds)ms" }
    if seconds % 3600 == 0 { return "\(seconds / 3600)h" }
    return seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
  }

  private static func fraction(_ digits: Substring, of unit: Int64) -> Int64 {
    var result: Int64 = 0
    var place = unit
    for digit in digits.utf8.prefix(18) {
      result += place * Int64(digit - UInt8(ascii: "0")) / 10
      place /= 10
    }
    return result
  }

  private static let nanoseconds: [String: Int64] = [
    "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000,
  ]
  private static let maximum: Int64 = 100 * 365 * 24 * 3_600_000_000_000
}
