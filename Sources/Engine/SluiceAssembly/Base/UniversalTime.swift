import Glibc

/// Times in the format of RFC 3339 §5.6: universal time, to the millisecond.
package enum UniversalTime {
  /// - Parameter moment: since 1970-01-01T00:00:00Z.
  package static func text(_ moment: Duration) -> String {
    let (whole, attoseconds) = moment.components
    var seconds = time_t(whole)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ number: Int, _ width: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }
    let day =
      "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(Int(parts.tm_mon) + 1, 2))-\(digits(Int(parts.tm_mday), 2))"
    let time = "\(digits(Int(parts.tm_hour), 2)):\(digits(Int(parts.tm_min), 2)):\(digits(Int(parts.tm_sec), 2))"
    return "\(day)T\(time).\(digits(Int(attoseconds / 1_000_000_000_000_000), 3))Z"
  }

  /// Since 1970-01-01T00:00:00Z.
  package static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
