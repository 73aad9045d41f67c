import CLinux
import Glibc
package import SluicePipeline
import SluiceSupport
import Synchronization

/// An event loop without a thread and without a descriptor: it runs inside the calls of the threads that enter it, one
/// thread at a time. It serves a host inside a program that was not written for Sluice. Such a program may close every
/// descriptor or fork, and it has no thread to run a loop.
///
///     loop.enter()
///     begin()                                          // on the loop
///     loop.wait(until: limit) { isDone }               // lets others in while it sleeps
///     loop.leave()
///
/// If a thread outside of the loop posts a job, the job runs when a thread enters, waits or leaves. Timers fire at
/// these times too. To make a timer fire on time, a thread must enter at the deadline that ``onWork`` reports.
///
/// `@unchecked Sendable`: the mutex protects the loop's own state, and the inbox has a lock of its own.
package final class CallerLoop: EventLoop, @unchecked Sendable {
  package let index: Int
  package var random = RandomBits()
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// The thread that is inside; 0 if no thread is.
  private let owner = Atomic<UInt64>(0)
  private let inbox = Monitor(Inbox())
  private let hasPosted = Atomic<Bool>(false)
  private var local: [Job] = []
  private var timers = TimerQueue()
  /// Called with the time at which a thread must enter. A thread that leaves while a timer is armed calls it with the
  /// timer's deadline. A thread that posts while no thread is inside calls it with the current time. Set before the
  /// first thread enters.
  package var onWork: ((Instant) -> Void)?

  /// Wraps the function in a structure, because Swift would wrap a function that is directly in a generic container
  /// once more on each access.
  private struct Job: Sendable {
    let run: @Sendable () -> Void
  }

  private struct Inbox {
    var jobs: [Job] = []
    /// Counts how often a thread has taken the jobs. A change tells a waiting thread that another thread has run the
    /// posted jobs.
    var takes = 0
  }

  /// The maximum number of rounds in one call. Each round runs the work that the previous round has added.
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
    // The order is sequentially consistent here and in `leave`: of a thread that posts and a thread that leaves at the
    // same time, at least one sees the value that the other has stored.
    hasPosted.store(true, ordering: .sequentiallyConsistent)
    if owner.load(ordering: .sequentiallyConsistent) == 0 { onWork?(now) }
  }

  package var now: Instant { Loop.now }

  package var wallClock: Duration { .nanoseconds(Int64(clamping: Loop.nanoseconds(of: CLOCK_REALTIME))) }

  package func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget) {
    timers.arm(timer, at: deadline, for: target)
  }

  package func disarm(_ timer: LoopTimer) { timers.disarm(timer) }
}

extension CallerLoop {
  /// Whether no thread is inside; the answer may be out of date at once.
  package var isFree: Bool { owner.load(ordering: .relaxed) == 0 }

  /// Makes the calling thread the thread that runs the loop. Waits until the thread that is inside has left. Must not
  /// be called by the thread that is inside.
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
    // Another thread may have posted a job after the inbox was last read and before `owner` was cleared. That thread
    // did not call `onWork`.
    if hasPosted.load(ordering: .sequentiallyConsistent) { onWork?(now) }
  }

  /// Lets other threads in until the condition holds or `limit` is reached. Meanwhile runs posted work and due timers.
  /// Returns whether the condition holds. Only the thread inside may call it.
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
    // The flag is cleared before the inbox is read, so that a later post sets it again.
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
