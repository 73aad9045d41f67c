/// A moment as HTTP spells it (RFC 9110 §5.6.7): to the second, in UTC.
package struct HTTPDate: Sendable, Hashable, Comparable {
  /// The seconds since 1970-01-01T00:00:00Z, without leap seconds; negative for an earlier moment.
  package var secondsSince1970: Int64

  /// The moment that is `secondsSince1970` after 1970-01-01T00:00:00Z; negative for an earlier moment.
  package init(secondsSince1970: Int64) { self.secondsSince1970 = secondsSince1970 }

  /// Reads any of the three forms that a recipient has to accept:
  ///
  ///     Sun, 06 Nov 1994 08:49:37 GMT       IMF-fixdate
  ///     Sunday, 06-Nov-94 08:49:37 GMT      RFC 850, obsolete
  ///     Sun Nov  6 08:49:37 1994            asctime, obsolete
  ///
  /// The day of the week must be valid, and is not compared with the date. A year of two digits is at most fifty years
  /// after `now`.
  package init?(_ text: String, now: HTTPDate) {
    var scanner = DateScanner(text)
    guard let fields = scanner.fields(now: now), scanner.isAtEnd, let seconds = fields.secondsSince1970 else {
      return nil
    }
    secondsSince1970 = seconds
  }

  /// Whether the left moment is earlier.
  package static func < (left: HTTPDate, right: HTTPDate) -> Bool { left.secondsSince1970 < right.secondsSince1970 }
}

extension HTTPDate: CustomStringConvertible {
  /// The IMF-fixdate, the form that a sender must write.
  package var description: String {
    let (days, seconds) = secondsSince1970.quotientAndFloorRemainder(86_400)
    let date = DateFields(daysSince1970: days)
    let weekday = Int((days + 3).quotientAndFloorRemainder(7).remainder)
    return "\(DateScanner.shortDays[weekday]), \(Self.padded(date.day, 2)) \(DateScanner.months[date.month - 1])"
      + " \(Self.padded(date.year, 4)) \(Self.padded(Int(seconds / 3600), 2)):"
      + "\(Self.padded(Int(seconds / 60 % 60), 2)):\(Self.padded(Int(seconds % 60), 2)) GMT"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// A date of the proleptic Gregorian calendar with a time of day.
package struct DateFields {
  package var year: Int
  /// 1…12.
  package var month: Int
  /// 1…31.
  package var day: Int
  package var hour = 0
  package var minute = 0
  /// 60 in a leap second.
  package var second = 0

  package init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  /// Counts in eras of 400 years, and in years that begin with March, so that a leap day is the last day of its year.
  package init(daysSince1970: Int64) {
    let (era, dayOfEra) = (daysSince1970 + 719_468).quotientAndFloorRemainder(146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    self.init(
      year: Int(era * 400 + yearOfEra + (month >= 10 ? 1 : 0)), month: Int(month < 10 ? month + 3 : month - 9),
      day: Int(dayOfYear - (153 * month + 2) / 5 + 1))
  }

  /// Nil for an impossible date or time.
  package var secondsSince1970: Int64? {
    guard (1...12).contains(month), day >= 1, hour < 24, minute < 60, second <= 60 else { return nil }
    let days = daysSince1970
    let isInMonth = DateFields(daysSince1970: days).month == month
    return isInMonth ? days * 86_400 + Int64(hour * 3600 + minute * 60 + second) : nil
  }

  private var daysSince1970: Int64 {
    let year = Int64(self.year) - (month <= 2 ? 1 : 0)
    let (era, yearOfEra) = year.quotientAndFloorRemainder(400)
    let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

/// Takes a date apart from left to right.
struct DateScanner {
  static let shortDays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  static let longDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
  static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private var rest: ArraySlice<UInt8>

  init(_ text: String) { rest = Array(text.utf8)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func fields(now: HTTPDate) -> DateFields? {
    if name(of: Self.longDays) != nil { return obsolete(now) }
    guard name(of: Self.shortDays) != nil else { return nil }
    return take(", ") ? fixed() : asctime()
  }

  private mutating func fixed() -> DateFields? {
    guard let day = number(2), take(" "), let month = name(of: Self.months), take(" "), let year = number(4), take(" ")
    else { return nil }
    var fields = DateFields(year: year, month: month + 1, day: day)
    return time(&fields) && take(" GMT") ? fields : nil
  }

  private mutating func obsolete(_ now: HTTPDate) -> DateFields? {
    guard take(", "), let day = number(2), take("-"), let month = name(of: Self.months), take("-"),
      let year = number(2), take(" ")
    else { return nil }
    let thisYear = DateFields(daysSince1970: now.secondsSince1970.quotientAndFloorRemainder(86_400).quotient).year
    let century = thisYear - thisYear % 100
    var fields = DateFields(year: century + 100 + year, month: month + 1, day: day)
    while fields.year > thisYear + 50 { fields.year -= 100 }
    return time(&fields) && take(" GMT") ? fields : nil
  }

  private mutating func asctime() -> DateFields? {
    guard take(" "), let month = name(of: Self.months), take(" "), let day = take(" ") ? number(1) : number(2),
      take(" ")
    else { return nil }
    var fields = DateFields(year: 0, month: month + 1, day: day)
    guard time(&fields), take(" "), let year = number(4) else { return nil }
    fields.year = year
    return fields
  }

  private mutating func time(_ fields: inout DateFields) -> Bool {
    guard let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2) else {
      return false
    }
    fields.hour = hour
    fields.minute = minute
    fields.second = second
    return true
  }

  private mutating func take(_ text: String) -> Bool {
    guard rest.starts(with: text.utf8) else { return false }
    rest = rest.dropFirst(text.utf8.count)
    return true
  }

  private mutating func name(of names: [String]) -> Int? {
    for (index, name) in names.enumerated() where take(name) { return index }
    return nil
  }

  /// Reads a number that is spelled with exactly `width` digits.
  private mutating func number(_ width: Int) -> Int? {
    let digits = rest.prefix(width)
    guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    rest = rest.dropFirst(width)
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }
}

extension Int64 {
  /// The quotient rounded down, and a remainder that is never negative; the divisor is positive.
  fileprivate func quotientAndFloorRemainder(_ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
