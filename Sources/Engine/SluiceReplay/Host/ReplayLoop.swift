import SluiceLoop
import SluicePipeline
import SluiceSupport

/// A loop with a fixed wall clock, so that code that depends on the time of day behaves in the same way in each replay.
///
/// All other functions are those of the underlying loop. This includes the monotonic clock, because deadlines must
/// pass.
final class ReplayLoop: EventLoop {
  private let loop: Loop
  private let time = Locked(Duration.zero)

  init(_ loop: Loop) { self.loop = loop }

  var index: Int { loop.index }
  var isCurrent: Bool { loop.isCurrent }
  var now: Instant { loop.now }
  var random: RandomBits {
    get { loop.random }
    set { loop.random = newValue }
  }

  /// The time since 1970.
  var wallClock: Duration {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  func post(_ job: @escaping @Sendable () -> Void) { loop.post(job) }
  func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget) {
    loop.arm(timer, at: deadline, for: target)
  }
  func disarm(_ timer: LoopTimer) { loop.disarm(timer) }
}
