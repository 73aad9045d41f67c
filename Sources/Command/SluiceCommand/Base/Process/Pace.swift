import Glibc
import SluiceSupport

/// Limits a thread to a number of bytes per second.
struct Pace {
  /// Nil for no limit.
  private let rate: Int?
  private let begin = MonotonicClock.now
  private var bytes = 0

  init(_ rate: Int?) { self.rate = rate }

  /// How many bytes to take at once: at most `maximum`, and at most as many as the rate allows in a tenth of a second.
  func pieceBytes(_ maximum: Int) -> Int { rate.map { max(1, min(maximum, $0 / 10)) } ?? maximum }

  /// Blocks until `count` more bytes are allowed.
  mutating func wait(for count: Int) {
    guard let rate else { return }
    bytes += count
    let due = Double(bytes) / Double(rate) - (MonotonicClock.now - begin).inSeconds
    guard due > 0 else { return }
    var time = timespec(tv_sec: Int(min(due, 3600)), tv_nsec: Int(due.truncatingRemainder(dividingBy: 1) * 1e9))
    nanosleep(&time, nil)
  }
}
