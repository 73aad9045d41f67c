/// Numbers for people.
package enum Figures {
  /// `12,345`.
  package static func count(_ number: some BinaryInteger) -> String {
    var digits = Array(String(number.magnitude))
    var position = digits.count - 3
    while position > 0 {
      digits.insert(",", at: position)
      position -= 3
    }
    return (number < 0 ? "-" : "") + String(digits)
  }

  /// `850 ns`, `12.3 µs`, `4.56 ms`, `1.23 s`: three digits.
  package static func time(nanoseconds: UInt64) -> String {
    let value = Double(nanoseconds)
    if value < 1e3 { return "\(nanoseconds) ns" }
    if value < 1e6 { return "\(digits(value / 1e3)) µs" }
    if value < 1e9 { return "\(digits(value / 1e6)) ms" }
    return "\(digits(value / 1e9)) s"
  }

  /// `812 B`, `12.3 kB`, `4.56 MB`: three digits, by powers of 1000.
  package static func bytes(_ count: Int) -> String {
    let value = Double(count)
    if value < 1e3 { return "\(count) B" }
    if value < 1e6 { return "\(digits(value / 1e3)) kB" }
    if value < 1e9 { return "\(digits(value / 1e6)) MB" }
    return "\(digits(value / 1e9)) GB"
  }

  /// `9s`, `1m05s`, `2h03m`.
  package static func remaining(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e6 else { return "long" }
    let whole = Int(seconds.rounded(.up))
    if whole < 60 { return "\(whole)s" }
    if whole < 3600 { return "\(whole / 60)m\(twoDigits(whole % 60))s" }
    return "\(whole / 3600)h\(twoDigits(whole % 3600 / 60))m"
  }

  package static func digits(_ value: Double) -> String {
    let places = value < 10 ? 2 : value < 100 ? 1 : 0
    return decimal(value, places)
  }

  /// A percentage with at most three decimals, and none if it is whole: `10`, `0.5`.
  package static func percent(_ value: Double) -> String {
    let rounded = (value * 1000).rounded() / 1000
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }

  static func decimal(_ value: Double, _ places: Int) -> String {
    let scale = places == 2 ? 100.0 : places == 1 ? 10.0 : 1.0
    let scaled = Int((value * scale).rounded())
    let whole = scaled / Int(scale)
    guard places > 0 else { return "\(whole)" }
    let fraction = String(scaled % Int(scale))
    return "\(whole)." + String(repeating: "0", count: places - fraction.count) + fraction
  }

  private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
