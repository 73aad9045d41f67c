import SluicePipeline
import Synchronization

/// A timer of a plugin. It fires or is cancelled, never both.
///
/// Unchecked: all members except `state` are used only on the loop.
final class PluginTimer: LoopTimerTarget, InstanceTimer, @unchecked Sendable {
  enum State: UInt8, AtomicRepresentable { case pending, fired, cancelled }

  let id: UInt64
  private let loop: any EventLoop
  private let delay: Duration
  private let timer = LoopTimer()
  private let state = Atomic<State>(.pending)
  private let body: @Sendable (UInt64) -> Void

  /// - Parameter body: called on the loop when the timer fires, with the timer's id.
  init(id: UInt64, loop: any EventLoop, delay: Duration, body: @escaping @Sendable (UInt64) -> Void) {
    self.id = id
    self.loop = loop
    self.delay = delay
    self.body = body
  }

  /// Arms the timer. [loop]
  func start() {
    guard state.load(ordering: .relaxed) == .pending else { return }
    loop.arm(timer, at: loop.now + delay, for: self)
  }

  /// Returns true if this call prevents the timer from firing. [any]
  func cancel() -> Bool {
    guard state.compareExchange(expected: .pending, desired: .cancelled, ordering: .acquiringAndReleasing).exchanged
    else { return false }
    loop.post { [self] in loop.disarm(timer) }
    return true
  }

  func timerDidFire(_ timer: LoopTimer) {
    guard state.compareExchange(expected: .pending, desired: .fired, ordering: .acquiringAndReleasing).exchanged
    else { return }
    body(id)
  }
}
