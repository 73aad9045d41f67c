import Glibc
import SluiceSupport

extension MonotonicClock {
  static func timespec(after duration: Duration) -> timespec {
    let (seconds, attoseconds) = (now + max(duration, .zero)).components
    return Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
