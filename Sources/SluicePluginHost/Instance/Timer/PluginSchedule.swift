import SluicePipeline
import SluiceSupport

/// Calls `on_schedule` in every period until it is cancelled.
///
/// Periods are counted from the start, so that a late call does not move later ones. A period is skipped if the
/// previous call has not returned. It is also skipped if the work of the previous call is neither completed nor
/// overdue.
final class PluginSchedule: LoopTimerTarget, InstanceTimer, @unchecked Sendable {
  // Sendable: `timer` and `next` are used only on the loop. The other members are constant or locked.
  static let shortestPeriod = Duration.milliseconds(1)

  let id: UInt64
  let name: String
  private let period: Duration
  private let deadline: Duration
  private let loop: any EventLoop
  private weak var instance: PluginInstance?
  private let timer = LoopTimer()
  private var next = Instant.distantFuture

  private struct State: Sendable {
    var isCancelled = false
    /// Whether the plugin must still report the outcome of its last call.
    var isOpen = false
    /// Whether there is a call that has not begun, or has not returned.
    var isCalling = false
    /// The token of a call that has not begun; nil if there is no such call.
    var waiting: CompletionToken?
  }
  private let state = Locked(State())

  init(
    id: UInt64, name: String, period: Duration, deadline: Duration, loop: any EventLoop, instance: PluginInstance
  ) {
    self.id = id
    self.name = name
    self.period = period
    self.deadline = deadline
    self.loop = loop
    self.instance = instance
  }

  /// Begins the first period. [any]
  func start() {
    loop.post { [self] in
      next = loop.now + period
      arm()
    }
  }

  /// Cancels the schedule. Always returns true, because the plugin will not be called again. A call that has begun
  /// continues, and its outcome counts. [any]
  func cancel() -> Bool {
    let waiting = state.withLock { state in
      state.isCancelled = true
      return state.waiting
    }
    if let waiting { instance?.completions.close(waiting, .cutOff) }
    loop.post { [self] in loop.disarm(timer) }
    return true
  }

  func timerDidFire(_ timer: LoopTimer) {
    let due = next
    let skipped = skip()
    arm()
    // For an instance that does not serve, no period is reported as skipped: another instance does the work.
    guard let instance, instance.isServing else { return }
    if skipped > 0 { instance.leftOut(skipped, of: name) }
    begin(on: instance, due)
  }

  private func arm() {
    if !state.withLock({ $0.isCancelled }) { loop.arm(timer, at: next, for: self) }
  }

  /// Moves to the next period that has not begun. Returns the number of whole periods that passed because the loop was
  /// blocked.
  private func skip() -> Int {
    let late = loop.now.duration(since: next)
    let skipped = Int(late / period)
    next = next + period * (skipped + 1)
    return skipped
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
    let work = OpenWork(on: loop, until: due + deadline, in: instance.completions) { [self] in ended($0, due) }
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
    instance.scheduleEnded(name, outcome, after: loop.now.duration(since: due))
  }
}
