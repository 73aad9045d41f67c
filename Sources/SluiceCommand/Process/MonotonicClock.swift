import Glibc

/// Time that only goes forward.
enum MonotonicClock {
  static var now: Duration {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  static func timespec(after duration: Duration) -> timespec {
    let (seconds, attoseconds) = (now + max(duration, .zero)).components
    return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
