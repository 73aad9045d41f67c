import CLinux
import Glibc

/// Wakes a thread that polls its descriptor. Any thread can ring the alarm; the descriptor is then readable until the
/// alarm is cleared.
final class Alarm: Sendable {
  let descriptor: Int32

  init?() {
    descriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    if descriptor < 0 { return nil }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  func ring() {
    eventfd_write(descriptor, 1)
  }

  func clear() {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
  }
}
