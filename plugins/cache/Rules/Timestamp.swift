package import SluiceMessages

/// A moment on the system's clock, in milliseconds since 1970. It can tell one second from the next, and keeps its
/// meaning on disk.
package struct Timestamp: Sendable, Hashable, Comparable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package init(seconds: Int64) { milliseconds = seconds * 1000 }

  /// With a precision of one second, as in a header.
  package var date: HTTPDate { HTTPDate(secondsSince1970: wholeSeconds) }

  var wholeSeconds: Int64 {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }
}
