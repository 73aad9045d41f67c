import CLinux
import Glibc
import SluiceMessages
import SluicePipeline
import SluiceSupport

/// The epoll set of one loop, the eventfd that wakes it, and the timerfd of a hosted loop.
package struct Poller: ~Copyable {
  static let batch = 256

  private let poll: Int32
  private let wakeUp: Int32
  /// The timerfd; -1 if the set has none.
  private let alarm: Int32
  private let events: UnsafeMutablePointer<epoll_event>

  private static let wakeUpTag = UInt64.max
  private static let alarmTag = UInt64.max - 1

  /// - Parameter hasAlarm: whether the set has a timer for ``setAlarm(at:)``.
  init(hasAlarm: Bool) throws(TransportError) {
    let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poll >= 0 else { throw Self.failure("epoll_create1") }
    let wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    let alarm = hasAlarm ? timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK)) : -1
    guard wakeUp >= 0, Self.control(poll, EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue, Self.wakeUpTag),
      !hasAlarm || alarm >= 0 && Self.control(poll, EPOLL_CTL_ADD, alarm, EPOLLIN.rawValue, Self.alarmTag)
    else {
      let failure = Self.failure("eventfd, timerfd")
      for descriptor in [alarm, wakeUp, poll] where descriptor >= 0 { close(descriptor) }
      throw failure
    }
    self.poll = poll
    self.wakeUp = wakeUp
    self.alarm = alarm
    events = .allocate(capacity: Self.batch)
  }

  deinit {
    events.deallocate()
    if alarm >= 0 { close(alarm) }
    close(wakeUp)
    close(poll)
  }

  /// The descriptor of the epoll set. It is readable when there are events.
  var descriptor: Int32 { poll }

  /// The descriptors without which the loop cannot work.
  package var descriptors: [Int32] { [poll, wakeUp] }

  /// Adds, changes or removes the interest in a descriptor. Each event of the descriptor has this tag.
  @discardableResult
  package func control(_ operation: Int32, _ descriptor: Int32, _ interest: UInt32, tag: UInt64) -> Bool {
    Self.control(poll, operation, descriptor, interest, tag)
  }

  /// Ends the current wait, or the next one. May be called on any thread. Returns false if other code in the process has
  /// closed the descriptor for it.
  @discardableResult
  func wake() -> Bool {
    var one: UInt64 = 1
    return write(wakeUp, &one, 8) >= 0 || errno != EBADF
  }

  /// Makes the set readable at that time. The time replaces the time of an earlier call; nil removes it.
  func setAlarm(at deadline: Instant?) {
    var time = itimerspec()
    // A value of zero would switch the timer off, so a deadline of zero becomes one nanosecond.
    let nanoseconds = deadline.map { max($0.nanoseconds, 1) } ?? 0
    time.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
    time.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
    timerfd_settime(alarm, Int32(TFD_TIMER_ABSTIME), &time, nil)
  }

  /// Waits for events; `timeout` in milliseconds, -1 means no limit. Returns the number of events; nil if other code in
  /// the process has closed the set. Its number can belong to another file by then.
  func wait(timeout: Int32) -> Int? {
    let count = epoll_wait(poll, events, Int32(Self.batch), timeout)
    if count < 0, errno == EBADF || errno == EINVAL { return nil }
    return max(0, Int(count))
  }

  /// One event of the last wait; nil for the wake-up and the alarm, which this call resets.
  func event(_ index: Int) -> (tag: UInt64, events: UInt32)? {
    let event = events[index]
    guard event.data.u64 < Self.alarmTag else {
      var count: UInt64 = 0
      _ = read(event.data.u64 == Self.alarmTag ? alarm : wakeUp, &count, 8)
      return nil
    }
    return (event.data.u64, event.events)
  }

  private static func control(
    _ poll: Int32, _ operation: Int32, _ descriptor: Int32, _ interest: UInt32, _ tag: UInt64
  ) -> Bool {
    var event = epoll_event()
    event.events = interest
    event.data.u64 = tag
    return epoll_ctl(poll, operation, descriptor, &event) == 0
  }

  private static func failure(_ call: String) -> TransportError {
    TransportError(
      .resources, "event loop: \(call): \(SystemError.text(errno))\(SystemError.advice(errno))", isBeforeSending: true)
  }
}
