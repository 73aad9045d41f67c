import Glibc
import SluiceLoop
import SluicePipeline
import SluiceTestKit
import Synchronization
import Testing

/// The event loop: posted work, timers, tasks and shutdown.
@Suite struct LoopTests {
  @Test func `each posted piece of work runs once, on the loop, in the order of its poster`() async throws {
    let loop = try Loop()
    defer { loop.shutdown() }
    let seen = Watched<[Int: [Int]]>([:])
    let strangers = Watched(0)
    for poster in 0..<4 {
      Task.detached {
        for number in 0..<5000 {
          loop.post {
            if !loop.isCurrent { strangers.update { $0 += 1 } }
            seen.update { $0[poster, default: []].append(number) }
          }
        }
      }
    }
    let result = try await seen.wait(for: "20,000 posts") { $0.values.reduce(0) { $0 + $1.count } == 20_000 }
    for poster in 0..<4 { #expect(result[poster] == Array(0..<5000)) }
    #expect(strangers.value == 0)
    #expect(!loop.isCurrent)
  }

  @Test func `work that is posted on the loop itself runs later, not at once`() async throws {
    let loop = try Loop()
    defer { loop.shutdown() }
    let order = Watched<[String]>([])
    loop.post {
      loop.post { order.update { $0.append("inner") } }
      order.update { $0.append("outer") }
    }
    try await order.wait(for: "both") { $0.count == 2 }
    #expect(order.value == ["outer", "inner"])
  }

  @Test func `timers fire in order, a moved timer at its new time, and a disarmed timer never`() async throws {
    let loop = try Loop()
    defer { loop.shutdown() }
    let clock = TimerRecorder()
    loop.post { clock.schedule(on: loop) }
    let fired = try await clock.fired.wait(for: "the timers") { $0.last == 3 }
    #expect(fired == [2, 1, 3])
  }

  @Test func `10,000 armed timers all fire, and none fires early`() async throws {
    let loop = try Loop()
    defer { loop.shutdown() }
    let crowd = TimerCrowd(count: 10_000)
    loop.post { crowd.schedule(on: loop) }
    try await crowd.remaining.wait(for: "10,000 timers") { $0 == 0 }
    #expect(crowd.early.value == 0)
  }

  @Test func `a task that prefers the loop runs on it, before and after it suspends`() async throws {
    let loop = try Loop()
    defer { loop.shutdown() }
    let places = await Task(executorPreference: loop) {
      let before = loop.isCurrent
      await Task.yield()
      let between = loop.isCurrent
      try? await Task.sleep(for: .milliseconds(1))
      return [before, between, loop.isCurrent]
    }.value
    #expect(places == [true, true, true])
  }

  @Test func `shutdown runs posted work, drops later posts, and lets tasks finish on other threads`() async throws {
    let loop = try Loop()
    let count = Atomic<Int>(0)
    let released = Signal()
    for _ in 0..<1000 { loop.post { count.add(1, ordering: .relaxed) } }
    loop.shutdown()
    loop.shutdown()
    #expect(count.load(ordering: .relaxed) == 1000)
    let witness = Witness { released.set() }
    loop.post { [witness] in _ = witness }
    _ = consume witness
    try await released.wait(for: "the dropped post to be released")
    #expect(await Task(executorPreference: loop) { loop.isCurrent }.value == false)
  }

  @Test func `an idle loop takes no processor time`() async throws {
    let loop = try Loop()
    defer { loop.shutdown() }
    let before = await cpuTime(of: loop)
    let recorder = TimerCrowd(count: 1, delay: .milliseconds(300))
    loop.post { recorder.schedule(on: loop) }
    try await recorder.remaining.wait(for: "a timer") { $0 == 0 }
    let used = await cpuTime(of: loop) - before
    #expect(used < 20_000_000, "\(used) ns in 300 ms")
  }

  @Test func `the loop's thread has its name and blocks signals`() async throws {
    let loop = try Loop(index: 7)
    defer { loop.shutdown() }
    let (name, blocked) = await withCheckedContinuation { continuation in
      loop.post {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        let blocked = [SIGPIPE, SIGTERM, SIGINT, SIGHUP].allSatisfy { sigismember(&mask, $0) == 1 }
        let text = (try? FileTree.readText("/proc/thread-self/comm")) ?? ""
        continuation.resume(returning: (text, blocked))
      }
    }
    #expect(name == "sluice-loop-7\n")
    #expect(blocked)
  }

  private func cpuTime(of loop: Loop) async -> Int {
    await withCheckedContinuation { continuation in
      loop.post {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        continuation.resume(returning: time.tv_sec * 1_000_000_000 + time.tv_nsec)
      }
    }
  }
}

private final class Witness: Sendable {
  let onRelease: @Sendable () -> Void
  init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
  deinit { onRelease() }
}

/// Arms timers 1 to 4, moves timer 1 behind timer 2, and disarms timer 4.
private final class TimerRecorder: LoopTimerTarget, @unchecked Sendable {
  // `@unchecked Sendable` is safe because only code on the loop touches the timers.
  let fired = Watched<[Int]>([])
  private let timers = (0..<5).map { _ in LoopTimer() }

  func schedule(on loop: Loop) {
    let now = loop.now
    for number in 1...4 { loop.arm(timers[number], at: now + .milliseconds(number * 2), for: self) }
    loop.arm(timers[1], at: now + .milliseconds(5), for: self)
    loop.arm(timers[3], at: now + .milliseconds(20), for: self)
    loop.disarm(timers[4])
    loop.disarm(timers[0])
  }

  func timerDidFire(_ timer: LoopTimer) {
    let number = timers.firstIndex { $0 === timer } ?? -1
    fired.update { $0.append(number) }
  }
}

private final class TimerCrowd: LoopTimerTarget, @unchecked Sendable {
  // `@unchecked Sendable` is safe because only code on the loop touches the timers.
  let remaining: Watched<Int>
  let early = Watched(0)
  private let timers: [LoopTimer]
  private let delay: Duration?
  private var loop: Loop?

  init(count: Int, delay: Duration? = nil) {
    remaining = Watched(count)
    timers = (0..<count).map { _ in LoopTimer() }
    self.delay = delay
  }

  func schedule(on loop: Loop) {
    self.loop = loop
    for (number, timer) in timers.enumerated() {
      loop.arm(timer, at: loop.now + (delay ?? .microseconds(number * 7919 % 50_000)), for: self)
    }
    // Every third timer is moved to another time.
    for (number, timer) in timers.enumerated() where number % 3 == 1 {
      loop.arm(timer, at: loop.now + .microseconds(number * 104_729 % 60_000), for: self)
    }
  }

  func timerDidFire(_ timer: LoopTimer) {
    if let loop, loop.now < timer.deadline { early.update { $0 += 1 } }
    remaining.update { $0 -= 1 }
  }
}
