import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceSupport
import SluiceTestKit
import Testing

/// A loop that runs only inside the calls of the threads that enter it.
@Suite struct CallerLoopTests {
  private let loop = CallerLoop(index: 3)

  private final class Target: LoopTimerTarget, @unchecked Sendable {
    let count = Watched(0)

    func timerDidFire(_ timer: LoopTimer) { count.update { $0 += 1 } }
  }

  private var soon: Instant { loop.now + Patience.limit }

  @Test func `the thread that has entered is that of the loop, until it leaves`() async throws {
    #expect(loop.isFree && !loop.isCurrent)
    loop.enter()
    #expect(!loop.isFree && loop.isCurrent)
    let loop = loop
    #expect(try await blocking { loop.isCurrent } == false || !loop.isCurrent)
    loop.leave()
    #expect(loop.isFree && !loop.isCurrent)
    #expect(loop.index == 3)
  }

  @Test func `a thread that does not wait enters only a free loop`() async throws {
    #expect(loop.enterIfFree() && loop.isCurrent)
    let loop = loop
    #expect(try await blocking { loop.enterIfFree() } == false)
    loop.leave()
    #expect(loop.isFree)
  }

  @Test func `what is posted while nobody is inside runs when a thread enters`() {
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

  @Test func `what the thread inside posts runs before it has left, and not at once`() {
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

  @Test func `a post of another thread ends a wait`() async throws {
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

  @Test func `another thread works on the loop while one waits, and its work ends the wait`() async throws {
    let (loop, isWaiting, isDone) = (loop, Watched(false), Watched(false))
    async let other: Void = blocking {
      isWaiting.waitBlocking { $0 }
      loop.enter()
      // Runs here, or in the thread that waits.
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

  @Test func `a timer fires inside of a wait`() async throws {
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

  @Test func `a timer that is due fires when a thread enters, and one that is disarmed does not`() {
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

  @Test func `a wait ends at its limit, and does not begin if the condition holds`() {
    loop.enter()
    defer { loop.leave() }
    #expect(!loop.wait(until: loop.now + .milliseconds(2)) { false })
    #expect(!loop.wait(until: loop.now) { false })
    #expect(loop.wait(until: loop.now) { true })
    #expect(loop.isCurrent)
  }

  @Test func `threads that enter at the same time come one after the other`() async throws {
    let loop = loop
    // Not protected: the loop does that.
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

  @Test func `what is posted while the thread inside leaves still runs`() {
    let (loop, calls) = (loop, Watched<[Instant]>([]))
    loop.onWork = { deadline in
      calls.update { $0.append(deadline) }
      guard calls.value.count == 1 else { return }
      // The thread has looked into the inbox for the last time, and is still inside.
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
