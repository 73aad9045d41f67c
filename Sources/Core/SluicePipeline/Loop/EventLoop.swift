/// One worker thread that owns its transactions. All work on its transactions happens on this thread, in order and
/// without locks.
package protocol EventLoop: AnyObject, Sendable {
  /// The index of the loop within its engine, from 0.
  var index: Int { get }

  /// Whether the caller runs on this loop's thread.
  var isCurrent: Bool { get }

  /// Runs the job on the loop's thread, once, after earlier jobs. May be called on any thread. The job never runs
  /// before this call has returned.
  func post(_ job: @escaping @Sendable () -> Void)

  /// The monotonic clock, read now. [loop]
  var now: Instant { get }

  /// The wall clock, read now: the time since 1970-01-01T00:00:00Z. Use it to compare with times from other machines.
  /// [loop]
  var wallClock: Duration { get }

  /// Arms the timer, or moves it when it is armed already. [loop]
  func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget)

  /// Disarms the timer; harmless when it isn't armed. [loop]
  func disarm(_ timer: LoopTimer)

  /// A generator seeded from the system, for ids and nonces. [loop]
  var random: RandomBits { get set }
}
