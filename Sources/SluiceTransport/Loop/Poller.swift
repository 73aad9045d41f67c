import CLinux
import Glibc
import SluicePipeline

/// The epoll set of one loop and the eventfd that wakes it.
struct Poller: ~Copyable {
  static let batch = 256

  private let poll: Int32
  private let wakeUp: Int32
  private let events: UnsafeMutablePointer<epoll_event>

  init() throws(TransportError) {
    let poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poll >= 0 else { throw Self.failure("epoll_create1") }
    let wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard wakeUp >= 0, Self.control(poll, EPOLL_CTL_ADD, wakeUp, EPOLLIN.rawValue, .max) else {
      let failure = Self.failure("eventfd")
      close(poll)
      throw failure
    }
    self.poll = poll
    self.wakeUp = wakeUp
    events = .allocate(capacity: Self.batch)
  }

  deinit {
    events.deallocate()
    close(wakeUp)
    close(poll)
  }

  /// Adds, changes or removes the interest in a descriptor; the tag comes back with its events.
  @discardableResult
  func control(_ operation: Int32, _ descriptor: Int32, _ interest: UInt32, tag: UInt64) -> Bool {
    Self.control(poll, operation, descriptor, interest, tag)
  }

  /// Ends the wait under way, or the next one. From any thread.
  func wake() {
    var one: UInt64 = 1
    _ = write(wakeUp, &one, 8)
  }

  /// Waits for events; `timeout` in milliseconds, -1 means no limit. Returns how many there are.
  func wait(timeout: Int32) -> Int {
    let count = epoll_wait(poll, events, Int32(Self.batch), timeout)
    return max(0, Int(count))
  }

  /// One event of the last wait; nil for the wake-up, which is taken back.
  func event(_ index: Int) -> (tag: UInt64, events: UInt32)? {
    let event = events[index]
    guard event.data.u64 != .max else {
      var count: UInt64 = 0
      _ = read(wakeUp, &count, 8)
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
