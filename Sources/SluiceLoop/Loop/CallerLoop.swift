import CLinux
import Glibc
package import SluicePipeline
import SluiceSupport
import Synchronization

/// An event loop without a thread and without a descriptor: it runs inside the calls of the threads that enter it, one
/// thread at a time. For a host inside a program that was not written for it, which may close every descriptor, fork,
/// and has no thread to give.
///
///     loop.enter()
///     begin()                                          // on the loop
///     loop.wait(until: limit) { isDone }               // lets others in while it sleeps
///     loop.leave()
///
/// What is posted from elsewhere runs when a thread enters, waits or leaves. Timers fire at these times too; to fire
/// them in between, a thread must enter at ``nextDeadline``, which ``onWork`` reports.
///
/// Unchecked because the mutex protects what belongs to the loop, and the inbox has a lock of its own.
package final class CallerLoop: EventLoop, @unchecked Sendable {
  package let index: Int
  package var random = RandomBits()
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// The thread that is inside; 0 for none.
  private let owner = Atomic<UInt64>(0)
  private let inbox = Monitor(Inbox())
  private let hasPosted = Atomic<Bool>(false)
  private var local: [Job] = []
  private var timers = TimerQueue()
  /// Called by the thread that leaves while a timer is armed, with the time at which a thread must enter; and by a
  /// thread that posts while no thread is inside, with the time of the post. Set before the first thread enters.
  package var onWork: ((Instant) -> Void)?

  /// In a structure, because a generic container would wrap a bare function once more on each access.
  private struct Job: Sendable {
    let run: @Sendable () -> Void
  }

  private struct Inbox {
    var jobs: [Job] = []
    /// How often the jobs were taken; from this, a waiting thread learns that another thread has done its work.
    var takes = 0
  }

  /// How many rounds of work that adds new work run in one call.
  private static let roundsPerCall = 8

  package init(index: Int) {
    self.index = index
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  package var isCurrent: Bool { owner.load(ordering: .relaxed) == sluice_thread_identity() }

  package func post(_ job: @escaping @Sendable () -> Void) {
    if isCurrent { return local.append(Job(run: job)) }
    inbox.update { $0.jobs.append(Job(run: job)) }
    // In one memory order with `leave`, so that at least one of the two threads sees what the other has stored.
    hasPosted.store(true, ordering: .sequentiallyConsistent)
    if owner.load(ordering: .sequentiallyConsistent) == 0 { onWork?(now) }
  }

  package var now: Instant { Self.time(CLOCK_MONOTONIC) }

  package var wallClock: Duration { .nanoseconds(Int64(Self.time(CLOCK_REALTIME).nanoseconds)) }

  private static func time(_ clock: clockid_t) -> Instant {
    var time = timespec()
    clock_gettime(clock, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
  }

  package func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget) {
    timers.arm(timer, at: deadline, for: target)
  }

  package func disarm(_ timer: LoopTimer) { timers.disarm(timer) }
}

extension CallerLoop {
  /// Whether no thread is inside; the answer may be out of date at once.
  package var isFree: Bool { owner.load(ordering: .relaxed) == 0 }

  /// Makes the calling thread that of the loop, and waits for another one to leave. Must not be called inside.
  package func enter() {
    pthread_mutex_lock(mutex)
    didEnter()
  }

  /// Like ``enter()``, unless another thread is inside. Returns whether the calling thread is inside now.
  package func enterIfFree() -> Bool {
    guard pthread_mutex_trylock(mutex) == 0 else { return false }
    didEnter()
    return true
  }

  private func didEnter() {
    owner.store(sluice_thread_identity(), ordering: .relaxed)
    runWork()
  }

  /// Runs the remaining work, and lets other threads in.
  package func leave() {
    runWork()
    if let deadline = timers.nextDeadline { onWork?(deadline) }
    owner.store(0, ordering: .sequentiallyConsistent)
    pthread_mutex_unlock(mutex)
    // Work was posted after the last look into the inbox, by a thread that still saw this one inside.
    if hasPosted.load(ordering: .sequentiallyConsistent) { onWork?(now) }
  }

  /// Lets other threads in until the condition holds, or the time has come; runs what they post and the timers that are
  /// due. Returns whether the condition holds. Only the thread inside may call it.
  package func wait(until limit: Instant, for condition: () -> Bool) -> Bool {
    runWork()
    while !condition() {
      let now = now
      guard now < limit else { return false }
      let next = min(limit, timers.nextDeadline ?? limit)
      let takes = inbox.withLock { $0.takes }
      owner.store(0, ordering: .relaxed)
      pthread_mutex_unlock(mutex)
      _ = inbox.wait(upTo: next.duration(since: now)) { $0.jobs.isEmpty && $0.takes == takes ? nil : () }
      pthread_mutex_lock(mutex)
      didEnter()
    }
    return true
  }

  private func runWork() {
    if timers.nextDeadline != nil { fireTimers() }
    var rounds = 0
    while rounds < Self.roundsPerCall {
      takePosted()
      guard !local.isEmpty else { return }
      var work: [Job] = []
      swap(&work, &local)
      for job in work { job.run() }
      rounds += 1
    }
  }

  private func takePosted() {
    guard hasPosted.load(ordering: .relaxed) else { return }
    // Cleared before the inbox is read: a later post sets it again.
    hasPosted.store(false, ordering: .sequentiallyConsistent)
    local += inbox.update { inbox in
      defer { inbox.jobs = [] }
      inbox.takes += 1
      return inbox.jobs
    }
  }

  private func fireTimers() {
    let now = now
    while let timer = timers.popDue(at: now) {
      let target = timer.target
      timer.target = nil
      target?.timerDidFire(timer)
    }
  }
}
