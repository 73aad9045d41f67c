import SluicePipeline
import SluiceSupport

/// Calls `on_schedule` in every period until it is cancelled.
///
/// Periods are counted from the start, so that a late call does not move later ones. A period is skipped if the
/// previous call has not returned. It is also skipped if the work of the previous call is neither completed nor
/// overdue.
final class PluginSchedule: LoopTimerTarget, InstanceTimer, @unchecked Sendable {
  // Sendable: `instance` is written only in `init`. The other members are constant or locked.
  static let shortestPeriod = Duration.milliseconds(1)

  let id: UInt64
  let name: String
  private let period: Duration
  private let deadline: Duration
  private weak var instance: PluginInstance?

  fileprivate struct State: Sendable {
    /// The loop changes if it gets stuck.
    var seat: TimerSeat
    /// When the next period begins.
    var next = Instant.distantFuture
    var isCancelled = false
    /// Whether the plugin must still report the outcome of its last call.
    var isOpen = false
    /// Whether there is a call that has not begun, or has not returned.
    var isCalling = false
    /// The token of a call that has not begun; nil if there is no such call.
    var waiting: CompletionToken?
  }
  private let state: Locked<State>

  init(
    id: UInt64, name: String, period: Duration, deadline: Duration, loop: any EventLoop, instance: PluginInstance
  ) {
    self.id = id
    self.name = name
    self.period = period
    self.deadline = deadline
    state = Locked(State(seat: TimerSeat(loop: loop)))
    self.instance = instance
  }

  /// Begins the first period. [any]
  func start() {
    let seat = state.withLock { state in
      state.next = state.seat.loop.now + period
      return state.seat
    }
    seat.loop.post { [self] in arm() }
  }

  func leave(_ stuck: Int, for other: any EventLoop) {
    guard state.withLock({ $0.seat.move(from: stuck, to: other) }) != nil else { return }
    other.post { [self] in arm() }
  }

  /// Cancels the schedule. Always returns true, because the plugin will not be called again. A call that has begun
  /// continues, and its outcome counts. [any]
  func cancel() -> Bool {
    let (waiting, seat) = state.withLock { state in
      state.isCancelled = true
      return (state.waiting, state.seat)
    }
    if let waiting { instance?.completions.close(waiting, .cutOff) }
    seat.loop.post { seat.loop.disarm(seat.timer) }
    return true
  }

  func timerDidFire(_ timer: LoopTimer) {
    guard let (due, skipped) = state.withLock({ $0.beginPeriod(of: period, timer) }) else { return }
    arm()
    // For an instance that does not serve, no period is reported as skipped: another instance does the work.
    guard let instance, instance.isServing else { return }
    if skipped > 0 { instance.leftOut(skipped, of: name) }
    begin(on: instance, due)
  }

  /// Must be called on the loop of the seat. If the schedule has left this loop meanwhile, does nothing.
  private func arm() {
    let state = state.withLock { $0 }
    if !state.isCancelled, state.seat.loop.isCurrent {
      state.seat.loop.arm(state.seat.timer, at: state.next, for: self)
    }
  }

  private func begin(on instance: PluginInstance, _ due: Instant) {
    let isFree = state.withLock { state -> Bool? in
      if state.isCancelled { return nil }
      if state.isOpen || state.isCalling { return false }
      state.isOpen = true
      state.isCalling = true
      return true
    }
    guard let isFree else { return }
    guard isFree else { return instance.leftOut(1, of: name) }
    let work = OpenWork(on: state.withLock { $0.seat.loop }, until: due + deadline, in: instance.completions) {
      [self] in ended($0, due)
    }
    guard let token = work.open() else { return state.withLock { ($0.isOpen, $0.isCalling) = (false, false) } }
    state.withLock { $0.waiting = token }
    let isSubmitted = instance.control.submit { [self, instance] in call(instance, token) }
    if isSubmitted { return }
    state.withLock { $0.isCalling = false }
    instance.completions.close(token, .cutOff)
  }

  /// Runs on a control thread. If the work is already overdue, because other calls of the instance took too long, the
  /// call is skipped.
  private func call(_ instance: PluginInstance, _ token: CompletionToken) {
    let isWanted = state.withLock { state in
      state.waiting = nil
      return !state.isCancelled
    }
    if isWanted, instance.completions.isOpen(token) { instance.callSchedule(name, token) }
    state.withLock { $0.isCalling = false }
  }

  private func ended(_ end: OpenWork.End, _ due: Instant) {
    state.withLock { $0.isOpen = false }
    guard case .outcome(let outcome) = end, let instance else { return }
    instance.scheduleEnded(name, outcome, after: instance.runtime.now.duration(since: due))
  }
}

extension PluginSchedule.State {
  /// Moves to the next period that has not begun. Returns when the period that begins now was due, and the number of
  /// whole periods that passed because the loop was blocked. Returns nil for the timer of a loop that the schedule has
  /// left.
  fileprivate mutating func beginPeriod(of period: Duration, _ timer: LoopTimer) -> (due: Instant, skipped: Int)? {
    guard timer === seat.timer else { return nil }
    let due = next
    let skipped = Int(seat.loop.now.duration(since: due) / period)
    next = due + period * (skipped + 1)
    return (due, skipped)
  }
}
