package import SluiceMessages

/// A time of the system's clock, in milliseconds since 1970. Unlike the date in a header, it has parts of a second.
/// Unlike a time of the monotonic clock, it can be stored on disk and used by another process.
package struct Timestamp: Sendable, Hashable, Comparable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package init(seconds: Int64) { milliseconds = seconds * 1000 }

  /// The time as a date in a header, with a precision of one second.
  package var date: HTTPDate { HTTPDate(secondsSince1970: wholeSeconds) }

  var wholeSeconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
