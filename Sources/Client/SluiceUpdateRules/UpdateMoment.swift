import SluiceMessages

/// A time in a signed document, in whole seconds: `2026-11-26T12:00:00Z` (RFC 3339 §5.6, universal time only).
package struct UpdateMoment: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Seconds since 1970-01-01T00:00:00Z.
  package let seconds: Int64

  package init(seconds: Int64) { self.seconds = seconds }

  /// Reads a time; nil if the text does not have exactly this form, or names a day that does not exist. A leap second
  /// is refused.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] == 0x54, bytes[13] == 0x3A,
      bytes[16] == 0x3A, bytes[19] == 0x5A
    else { return nil }
    func number(_ range: Range<Int>) -> Int? {
      var number = 0
      for byte in bytes[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        number = number * 10 + Int(byte - 0x30)
      }
      return number
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), second < 60
    else { return nil }
    var fields = DateFields(year: year, month: month, day: day)
    (fields.hour, fields.minute, fields.second) = (hour, minute, second)
    guard let seconds = fields.secondsSince1970, seconds >= 0 else { return nil }
    self.seconds = seconds
  }

  package var description: String {
    let days = max(seconds, 0) / 86400
    let (rest, date) = (max(seconds, 0) - days * 86400, DateFields(daysSince1970: days))
    return "\(Self.digits(Int64(date.year), 4))-\(Self.digits(Int64(date.month), 2))-\(Self.digits(Int64(date.day), 2))"
      + "T\(Self.digits(rest / 3600, 2)):\(Self.digits(rest / 60 % 60, 2)):\(Self.digits(rest % 60, 2))Z"
  }

  package static func < (left: Self, right: Self) -> Bool { left.seconds < right.seconds }

  /// - Parameter duration: fractions of a second are ignored.
  package static func + (moment: Self, duration: Duration) -> Self {
    let (sum, overflow) = moment.seconds.addingReportingOverflow(duration.components.seconds)
    return UpdateMoment(seconds: overflow ? .max : sum)
  }

  private static func digits(_ number: Int64, _ width: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }
}
