import CLinux
import Glibc
package import SluicePipeline
import SluiceSupport
import Synchronization

/// An event loop on a thread of its own: epoll, timers, an inbox for other threads, and a Swift task executor. A
/// ``HostedLoop`` runs on a thread of the program.
///
///     let loop = try Loop(index: 0)
///     loop.post { print("on the loop") }
///     loop.shutdown()
///
/// A task started with `Task(executorPreference: loop)` runs on the loop's thread; work that it enqueues from there
/// runs in the same turn, without a system call. The thread is named `sluice-loop-N`; an idle loop takes no processor
/// time.
package final class Loop: EventLoop, TaskExecutor, @unchecked Sendable {
  // Sendable: every thread may use the atomics and the inbox; only the loop's thread touches the rest.
  package let index: Int
  package var random = RandomBits()

  package let poller: Poller
  let inbox = LoopInbox()
  /// Whether the loop must be woken, because it waits in the kernel or will wait soon.
  let isAsleep = Atomic<Bool>(false)
  let isStopping = Atomic<Bool>(false)
  let thread = Locked<SystemThread?>(nil)
  let life = Monitor(LoopLife.running)
  /// Nil for a loop with a thread of its own.
  let hosting: LoopHosting?
  /// Counts the turns of the loop, so that other threads can see whether the loop still makes progress; written on the
  /// loop's thread.
  let turns = Atomic<UInt64>(0)

  var timers = TimerQueue()
  var local = LocalWork()
  var sources: [any LoopSource] = []
  /// The time at which this turn began.
  package var turnBegan = Instant(nanoseconds: 0)

  /// Starts the thread. It ends with ``shutdown()``; a loop that is never shut down lives as long as the process.
  package convenience init(index: Int = 0) throws(TransportError) {
    try self.init(index: index, hosting: nil)
    try startThread()
  }

  /// A loop that does nothing until a thread calls its turns.
  init(index: Int, hosting: LoopHosting?) throws(TransportError) {
    self.index = index
    self.hosting = hosting
    poller = try Poller(hasAlarm: hosting != nil)
    turnBegan = Self.now
    // A hosted loop begins asleep, so that the first work wakes the thread that waits for the descriptor.
    isAsleep.store(hosting != nil, ordering: .relaxed)
  }

  /// The loop on whose thread this code runs.
  package static var current: Loop? {
    sluice_current_loop().map { Unmanaged<Loop>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The index of the loop on whose thread this code runs; nil on other threads.
  package static var currentIndex: Int? {
    sluice_current_loop().map { Unmanaged<Loop>.fromOpaque($0)._withUnsafeGuaranteedRef(\.index) }
  }

  package var isCurrent: Bool { sluice_current_loop() == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

  package var now: Instant { Self.now }

  /// Runs the job once, on the loop. After the loop has ended the job is released without being run.
  package func post(_ job: @escaping @Sendable () -> Void) {
    if isCurrent { return local.append(.call(job)) }
    _ = push(.call(job))
  }

  package func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget) {
    timers.arm(timer, at: deadline, for: target)
  }

  package func disarm(_ timer: LoopTimer) { timers.disarm(timer) }

  /// A task's next step. After the loop has ended it runs on Swift's global executor, so that the task can still
  /// finish.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent { return local.append(.job(job)) }
    if !push(.job(job)) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }

  package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  private func push(_ work: LoopWork) -> Bool {
    switch inbox.push(work) {
    case .refused: return false
    case .queued: return true
    case .first:
      // The thread that fills an empty inbox wakes the loop. The atomic exchange makes sure that only one of several
      // threads wakes it, and that none does while the loop is awake.
      if isAsleep.exchange(false, ordering: .sequentiallyConsistent), !poller.wake() { noteLostDescriptors() }
      return true
    }
  }

  package var wallClock: Duration {
    .nanoseconds(Int64(clamping: Self.nanoseconds(of: CLOCK_REALTIME)))
  }

  /// The time of the clock that all loops use. Code that reaches a loop only through another object reads the time
  /// here, without retaining the loop.
  package static var now: Instant { Instant(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC)) }

  /// The time of a clock in nanoseconds; 0 if the clock cannot be read.
  @inline(__always)
  static func nanoseconds(of clock: clockid_t) -> UInt64 {
    var time = timespec()
    // `&time` would add a stack protector, which makes reading the clock a third more expensive. A request does it
    // many times.
    _ = _withUnprotectedUnsafeMutablePointer(to: &time) { clock_gettime(clock, $0) }
    return UInt64(bitPattern: Int64(time.tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(time.tv_nsec))
  }
}
