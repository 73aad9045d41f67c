package import SluiceMessages

/// A moment on the system's clock, in milliseconds since 1970: fine enough to tell a second from the next, and good on disk.
package struct Timestamp: Sendable, Hashable, Comparable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package init(seconds: Int64) { milliseconds = seconds * 1000 }

  /// To the second, which is what a header can say.
  package var date: HTTPDate { HTTPDate(secondsSince1970: wholeSeconds) }

  var wholeSeconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
