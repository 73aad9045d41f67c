package import SluiceMessages

/// A time of the system's clock, in milliseconds since 1970. It is finer than a second, and keeps its meaning on disk.
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
