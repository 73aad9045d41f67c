import Glibc
import SluiceMessages

/// Converts between the monotonic clock, which events use, and the system's clock, which collectors understand.
enum Clock {
  static var unixNow: UInt64 { read(CLOCK_REALTIME) }

  /// Converts a time of the monotonic clock to nanoseconds since 1970, using the current difference of the two clocks.
  static func unixNanoseconds(_ monotonic: Duration) -> UInt64 {
    let offset = Int64(bitPattern: unixNow &- read(CLOCK_MONOTONIC))
    return UInt64(clamping: Int64(clamping: monotonic.nanoseconds) &+ offset)
  }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}
