import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport
import SluiceTestKit
import Testing

/// A loop without its own thread. It runs only while a thread that has entered it calls it.
@Suite struct CallerLoopTests {
  private let loop = CallerLoop(index: 3)

  private final class Target: LoopTimerTarget, @unchecked Sendable {
    let count = Watched(0)

    func timerDidFire(_ timer: LoopTimer) { count.update { $0 += 1 } }
  }

  private var soon: Instant { loop.now + Patience.limit }

  @Test func `a thread that has entered the loop is the loop's thread until it leaves`() async throws {
    #expect(loop.isFree && !loop.isCurrent)
    loop.enter()
    #expect(!loop.isFree && loop.isCurrent)
    let loop = loop
    #expect(try await blocking { loop.isCurrent } == false || !loop.isCurrent)
    loop.leave()
    #expect(loop.isFree && !loop.isCurrent)
    #expect(loop.index == 3)
  }

  @Test func `enterIfFree enters a free loop, and does not wait for another thread`() async throws {
    #expect(loop.enterIfFree() && loop.isCurrent)
    let loop = loop
    #expect(try await blocking { loop.enterIfFree() } == false)
    loop.leave()
    #expect(loop.isFree)
  }

  @Test func `work that is posted while no thread is inside runs when a thread enters`() {
    let count = Watched(0)
    loop.post { [loop] in
      #expect(loop.isCurrent)
      count.update { $0 += 1 }
    }
    #expect(count.value == 0)
    loop.enter()
    #expect(count.value == 1)
    loop.leave()
    #expect(count.value == 1)
  }

  @Test func `work that the thread inside posts does not run at once, but before that thread leaves`() {
    let count = Watched(0)
    loop.enter()
    loop.post { [loop] in
      count.update { $0 += 1 }
      loop.post { count.update { $0 += 10 } }
    }
    #expect(count.value == 0)
    loop.leave()
    #expect(count.value == 11)
  }

  @Test func `a post from another thread ends a wait`() async throws {
    let (loop, isWaiting, isDone) = (loop, Watched(false), Watched(false))
    async let other: Void = blocking {
      isWaiting.waitBlocking { $0 }
      loop.post { isDone.update { $0 = true } }
    }
    let limit = soon
    let isMet = try await blocking {
      loop.enter()
      defer { loop.leave() }
      isWaiting.update { $0 = true }
      return loop.wait(until: limit) { isDone.value }
    }
    #expect(isMet)
    try await other
  }

  @Test func `while a thread waits inside, another thread can enter, and its work ends the wait`() async throws {
    let (loop, isWaiting, isDone) = (loop, Watched(false), Watched(false))
    async let other: Void = blocking {
      isWaiting.waitBlocking { $0 }
      loop.enter()
      // The posted work runs on this thread or on the thread that waits.
      loop.post { isDone.update { $0 = true } }
      loop.leave()
      loop.post {}
    }
    let limit = soon
    let isMet = try await blocking {
      loop.enter()
      defer { loop.leave() }
      isWaiting.update { $0 = true }
      let isMet = loop.wait(until: limit) { isDone.value }
      return isMet && loop.isCurrent
    }
    #expect(isMet)
    try await other
    #expect(loop.isFree)
  }

  @Test func `a timer fires during a wait`() async throws {
    let (loop, target) = (loop, Target())
    let limit = soon
    let isMet = try await blocking {
      let timer = LoopTimer()
      loop.enter()
      defer { loop.leave() }
      loop.arm(timer, at: loop.now + .milliseconds(5), for: target)
      return loop.wait(until: limit) { target.count.value == 1 } && !timer.isArmed
    }
    #expect(isMet)
  }

  @Test func `a due timer fires when a thread enters, and a disarmed timer does not`() {
    let (first, second) = (Target(), Target())
    let (due, disarmed) = (LoopTimer(), LoopTimer())
    loop.enter()
    loop.arm(due, at: loop.now + .nanoseconds(1), for: first)
    loop.arm(disarmed, at: loop.now + .nanoseconds(1), for: second)
    loop.disarm(disarmed)
    loop.leave()
    loop.enter()
    #expect(first.count.value == 1)
    #expect(second.count.value == 0)
    loop.leave()
  }

  @Test func `a wait ends at its time limit, and does not begin if its condition already holds`() {
    loop.enter()
    defer { loop.leave() }
    #expect(!loop.wait(until: loop.now + .milliseconds(2)) { false })
    #expect(!loop.wait(until: loop.now) { false })
    #expect(loop.wait(until: loop.now) { true })
    #expect(loop.isCurrent)
  }

  @Test func `if several threads enter at the same time, only one of them is inside at a time`() async throws {
    let loop = loop
    // No lock protects the value: only a thread inside of the loop touches it.
    final class Counter: @unchecked Sendable { var value = 0 }
    let counter = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          try await blocking {
            for _ in 0..<2_000 {
              loop.enter()
              counter.value += 1
              loop.post { counter.value += 1 }
              loop.leave()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(counter.value == 16_000)
  }

  @Test func `if work is posted while the thread inside leaves, the work still runs`() {
    let (loop, calls) = (loop, Watched<[Instant]>([]))
    loop.onWork = { deadline in
      calls.update { $0.append(deadline) }
      guard calls.value.count == 1 else { return }
      // At this point the thread has checked the inbox for the last time, and is still inside.
      SystemThread { loop.post {} }?.join()
    }
    let (timer, target) = (LoopTimer(), Target())
    loop.enter()
    loop.arm(timer, at: soon, for: target)
    loop.leave()
    #expect(calls.value.count == 2)
    #expect(calls.value.last.map { $0 <= loop.now } == true)
  }
}
