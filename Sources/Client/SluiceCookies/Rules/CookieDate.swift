/// The date of an `Expires` attribute (draft-ietf-httpbis-rfc6265bis-22 §5.1.1). Its syntax is much less strict than
/// that of dates in RFC 9110.
package enum CookieDate {
  private struct Fields {
    var time: (hour: Int, minute: Int, second: Int)?
    var day: Int?
    var month: Int?
    var year: Int?
  }

  /// Seconds since 1970-01-01T00:00:00Z; nil if the text is not a date.
  package static func seconds(_ text: some Collection<UInt8>) -> Int64? {
    var fields = Fields()
    for token in text.split(whereSeparator: isDelimiter) { take(token, &fields) }
    guard let time = fields.time, let day = fields.day, let month = fields.month, var year = fields.year else {
      return nil
    }
    // Steps 3 and 4: a year of two digits is completed.
    if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
    // Step 5.
    guard (1...31).contains(day), year >= 1601, time.hour <= 23, time.minute <= 59, time.second <= 59,
      day <= days(inMonth: month, of: year)
    else { return nil }
    return days(from1970To: year, month, day) * 86_400 + Int64(time.hour * 3600 + time.minute * 60 + time.second)
  }

  /// Step 2: stores a token in the first field that is still empty and whose syntax the token matches.
  private static func take(_ token: some Collection<UInt8>, _ fields: inout Fields) {
    if fields.time == nil, let time = time(token) {
      fields.time = time
    } else if fields.day == nil, let day = number(token, digits: 1...2) {
      fields.day = day
    } else if fields.month == nil, let month = month(token) {
      fields.month = month
    } else if fields.year == nil, let year = number(token, digits: 2...4) {
      fields.year = year
    }
  }

  /// `delimiter`: the tab, the space, and all ASCII punctuation except `:`.
  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// `hms-time`: three numbers of one or two digits. Text after the last number is ignored.
  private static func time(_ token: some Collection<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
    let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].allSatisfy(CookieBytes.isDigit), fields[1].allSatisfy(CookieBytes.isDigit),
      let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
      let second = number(fields[2], digits: 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  /// The number at the beginning of the token; nil if it has fewer or more digits. Text after the digits is ignored.
  private static func number(_ token: some Collection<UInt8>, digits: ClosedRange<Int>) -> Int? {
    let found = token.prefix(while: CookieBytes.isDigit)
    guard digits.contains(found.count) else { return nil }
    return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

  private static func month(_ token: some Collection<UInt8>) -> Int? {
    months.firstIndex { CookieBytes.begins(token, withLowercase: $0) }.map { $0 + 1 }
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }

  private static func days(inMonth month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The number of days from 1970-01-01 to a date, which is negative for earlier dates. The year is from 1601 to 9999.
  private static func days(from1970To year: Int, _ month: Int, _ day: Int) -> Int64 {
    func days(before year: Int) -> Int { (year - 1) * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 }
    let months = (1..<month).reduce(0) { $0 + self.days(inMonth: $1, of: year) }
    return Int64(days(before: year) - days(before: 1970) + months + day - 1)
  }
}
