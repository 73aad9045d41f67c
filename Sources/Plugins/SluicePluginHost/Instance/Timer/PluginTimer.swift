import SluicePipeline
import SluiceSupport
import Synchronization

/// A timer of a plugin. It fires or is cancelled, never both.
///
/// If the loop of a timer that any loop may run gets stuck, the timer is armed once more, on another loop. Then the
/// first of the two loops that reaches the deadline runs the function.
final class PluginTimer: LoopTimerTarget, InstanceTimer, Sendable {
  enum State: UInt8, AtomicRepresentable { case pending, fired, cancelled }

  let id: UInt64
  private let seat: Locked<TimerSeat>
  private let isForAnyLoop: Bool
  private let deadline: Instant
  private let state = Atomic<State>(.pending)
  private let body: @Sendable (UInt64) -> Void

  /// - Parameters:
  ///   - isForAnyLoop: whether the function may run on another loop than this one.
  ///   - body: called on the loop when the timer fires, with the timer's id.
  init(
    id: UInt64, loop: any EventLoop, isForAnyLoop: Bool, delay: Duration, body: @escaping @Sendable (UInt64) -> Void
  ) {
    self.id = id
    seat = Locked(TimerSeat(loop: loop))
    self.isForAnyLoop = isForAnyLoop
    deadline = loop.now + delay
    self.body = body
  }

  /// Arms the timer. [loop]
  func start() { arm(seat.withLock { $0 }) }

  /// If the timer has left the calling loop, does nothing.
  private func arm(_ seat: TimerSeat) {
    guard state.load(ordering: .relaxed) == .pending, seat.loop.isCurrent else { return }
    seat.loop.arm(seat.timer, at: deadline, for: self)
  }

  func leave(_ stuck: Int, for other: any EventLoop) {
    guard isForAnyLoop, let seat = seat.withLock({ $0.move(from: stuck, to: other) }) else { return }
    other.post { [self] in arm(seat) }
  }

  /// Returns true if this call prevents the timer from firing. [any]
  func cancel() -> Bool {
    guard state.compareExchange(expected: .pending, desired: .cancelled, ordering: .acquiringAndReleasing).exchanged
    else { return false }
    let seat = seat.withLock { $0 }
    seat.loop.post { seat.loop.disarm(seat.timer) }
    return true
  }

  func timerDidFire(_ timer: LoopTimer) {
    guard state.compareExchange(expected: .pending, desired: .fired, ordering: .acquiringAndReleasing).exchanged
    else { return }
    body(id)
  }
}

/// The loop that a timer of a plugin is on, and the timer of that loop.
///
/// Unchecked: `timer` is used only on the loop.
struct TimerSeat: @unchecked Sendable {
  private(set) var loop: any EventLoop
  private(set) var timer = LoopTimer()

  init(loop: any EventLoop) { self.loop = loop }

  /// Moves to another loop, with a new timer, because the old one belongs to the stuck loop. Returns the new seat, or
  /// nil if this seat is not on the stuck loop.
  mutating func move(from stuck: Int, to other: any EventLoop) -> TimerSeat? {
    guard loop.index == stuck else { return nil }
    self = TimerSeat(loop: other)
    return self
  }
}
