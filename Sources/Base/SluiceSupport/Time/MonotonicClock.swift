import Glibc

/// A clock that only goes forward. A time is the duration since the clock's origin.
package enum MonotonicClock {
  package static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The time from now to the deadline as a timeout for poll(2). It is rounded up, and is 0 if the deadline has passed.
  package static func milliseconds(until deadline: Duration) -> Int32 {
    let left = deadline - now
    let whole = Int64(left / .milliseconds(1))
    return Int32(clamping: max(whole + (.milliseconds(whole) < left ? 1 : 0), 0))
  }
}
