import Glibc
import SluiceMessages
package import SluicePipeline
import SluiceTestKit
import Synchronization

/// An event loop without a thread. The test runs it on the test's own thread, and moves its clock.
///
///     let loop = StubLoop()
///     loop.perform { Transaction.begin(…) }   // on the loop
///     loop.run { result != nil } // until the condition is true
///     loop.advance(by: .seconds(1))
///
/// Other threads may post and resume. All other functions must be called on the driving thread; this makes the
/// unchecked conformance safe.
package final class StubLoop: EventLoop, @unchecked Sendable {
  package let index: Int
  package var random = RandomBits()
  private let jobs = Watched<[@Sendable () -> Void]>([])
  private let time = Atomic<UInt64>(1_000_000_000)
  private let driver = Atomic<UInt>(0)
  private var timers: [LoopTimer] = []

  package init(index: Int = 0) { self.index = index }

  /// Whether the calling thread is driving the loop now.
  package var isCurrent: Bool { driver.load(ordering: .acquiring) == Self.thread }

  /// The time of the wall clock when ``now`` is zero. The wall clock advances with the loop's clock.
  package var wallClockOrigin = Duration.seconds(784_111_777)

  package var wallClock: Duration { wallClockOrigin + .nanoseconds(Int64(clamping: now.nanoseconds)) }

  package var now: Instant { Instant(nanoseconds: time.load(ordering: .relaxed)) }

  package func post(_ job: @escaping @Sendable () -> Void) { jobs.update { $0.append(job) } }

  package func arm(_ timer: LoopTimer, at deadline: Instant, for target: any LoopTimerTarget) {
    disarm(timer)
    timer.deadline = deadline
    timer.target = target
    timer.queuePosition = 0
    timers.append(timer)
  }

  package func disarm(_ timer: LoopTimer) {
    guard timer.isArmed else { return }
    timers.removeAll { $0 === timer }
    timer.queuePosition = -1
    timer.target = nil
  }

  /// Moves the clock forward but fires no timer. Call it inside a call of a stage to simulate that the call takes this
  /// long.
  package func spend(_ duration: Duration) { time.wrappingAdd(duration.nanoseconds, ordering: .relaxed) }

  /// Runs the body on the loop, then all work that it has posted.
  package func perform(_ body: () -> Void) {
    drive {
      body()
      drain()
    }
  }

  /// Runs posted work until the condition is true, and waits for other threads if necessary. Returns false if the
  /// condition does not become true in time.
  @discardableResult
  package func run(upTo limit: Duration = Patience.limit, until isDone: () -> Bool) -> Bool {
    drive {
      drain()
      while !isDone() {
        guard jobs.waitBlocking(upTo: limit, until: { !$0.isEmpty }) != nil else { return isDone() }
        drain()
      }
      return true
    }
  }

  /// Moves the clock forward, and fires each timer at its time.
  package func advance(by duration: Duration) {
    let end = now + duration
    drive {
      drain()
      while let timer = timers.min(by: { $0.deadline < $1.deadline }), timer.deadline <= end {
        time.store(max(timer.deadline, now).nanoseconds, ordering: .relaxed)
        let target = timer.target
        disarm(timer)
        target?.timerDidFire(timer)
        drain()
      }
      time.store(end.nanoseconds, ordering: .relaxed)
    }
  }

  private func drain() {
    while true {
      let batch = jobs.update { jobs in
        defer { jobs = [] }
        return jobs
      }
      if batch.isEmpty { return }
      for job in batch { job() }
    }
  }

  private func drive<Result>(_ body: () -> Result) -> Result {
    let before = driver.exchange(Self.thread, ordering: .acquiringAndReleasing)
    defer { driver.store(before, ordering: .releasing) }
    return body()
  }

  private static var thread: UInt { UInt(pthread_self()) }
}
