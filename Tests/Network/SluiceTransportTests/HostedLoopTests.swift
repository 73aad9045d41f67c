import Glibc
import SluiceLoop
import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestServers
import SluiceTransport
import Testing

/// A loop on a thread that Swift did not start.
@Suite struct HostedLoopTests {
  private let hosted: HostedLoop

  init() throws { hosted = try HostedLoop() }

  /// Whether the loop's descriptor is readable. A thread that waits for the descriptor then wakes up.
  private var isReadable: Bool { hosted.isReadable }

  @Test func `posted work makes the descriptor readable, and runs once, in its poster's order, on the thread in C`()
    async throws
  {
    let thread = try hosted.drive()
    let seen = Watched<[Int: [Int]]>([:])
    let strangers = Watched(0)
    let loop = hosted.loop
    for poster in 0..<4 {
      Task.detached {
        for number in 0..<2000 {
          loop.post {
            if !loop.isCurrent || Loop.current !== loop { strangers.update { $0 += 1 } }
            seen.update { $0[poster, default: []].append(number) }
          }
        }
      }
    }
    let result = try await seen.wait(for: "8,000 posts") { $0.values.reduce(0) { $0 + $1.count } == 8000 }
    for poster in 0..<4 { #expect(result[poster] == Array(0..<2000)) }
    #expect(strangers.value == 0)
    #expect(!loop.isCurrent)
    #expect(try hosted.close())
    thread.join()
  }

  @Test func `the descriptor is readable only while there is something to do`() throws {
    #expect(!isReadable)
    let count = Watched(0)
    hosted.loop.post { [loop = hosted.loop] in
      count.update { $0 += 1 }
      loop.post { count.update { $0 += 1 } }
    }
    #expect(isReadable)
    #expect(count.value == 0)
    #expect(try hosted.turn())
    #expect(count.value == 2)
    #expect(!isReadable)
    #expect(try hosted.turn())
    hosted.loop.post { count.update { $0 += 1 } }
    #expect(isReadable)
    #expect(try hosted.close())
    #expect(count.value == 3)
  }

  @Test func `a turn ends even if its work keeps posting new work`() throws {
    let again = Again(on: hosted.loop)
    again.run()
    #expect(try hosted.turn())
    #expect(again.count.value > 1)
    #expect(isReadable)
    again.stop()
    #expect(try hosted.close())
  }

  @Test func `timers fire on a thread that only waits for the descriptor, and a moved timer fires at its new time`()
    async throws
  {
    let thread = try hosted.drive()
    let timers = OrderedTimers()
    hosted.loop.post { [loop = hosted.loop] in timers.schedule(on: loop) }
    #expect(try await timers.fired.wait(for: "the timers") { $0.last == 3 } == [2, 1, 3])
    #expect(timers.early.value == 0)
    #expect(try hosted.close())
    thread.join()
  }

  @Test func `a task that prefers the loop runs there, before and after it suspends`() async throws {
    let thread = try hosted.drive()
    let loop = hosted.loop
    let places = await Task(executorPreference: loop) {
      let before = loop.isCurrent
      await Task.yield()
      return [before, loop.isCurrent]
    }.value
    #expect(places == [true, true])
    #expect(try hosted.close())
    thread.join()
  }

  @Test func `transfers run on a hosted loop`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    let transport = try HTTPTransport(loop: hosted.loop)
    let thread = try hosted.drive()
    let probes = (0..<20).map { _ in Probe() }
    for probe in probes {
      let request = Request(url: try HTTPURL(server.baseURL + "/"))
      hosted.loop.post { _ = transport.start(request, TransferOptions(), observer: probe) }
    }
    for probe in probes { #expect(try await probe.waitForEnd().head?.status == 200) }
    #expect(try hosted.close())
    thread.join()
  }

  @Test func `close cancels transfers, runs work that was posted before, and drops later work`() async throws {
    let server = try LoopbackServer()
    defer { server.stop() }
    server.hold()
    let transport = try HTTPTransport(loop: hosted.loop)
    let thread = try hosted.drive()
    let probe = Probe()
    let request = Request(url: try HTTPURL(server.baseURL + "/"))
    hosted.loop.post { _ = transport.start(request, TransferOptions(), observer: probe) }
    try await server.waitForRequests(1)
    let ran = Watched(0)
    hosted.loop.post { ran.update { $0 += 1 } }
    #expect(try hosted.close())
    thread.join()
    #expect(try await probe.waitForEnd().code == .cancelled)
    #expect(ran.value == 1)
    hosted.loop.post { ran.update { $0 += 1 } }
    #expect(try !hosted.turn())
    #expect(try hosted.close())
    #expect(ran.value == 1)
  }

  @Test func `close ends a loop that no thread runs, within the time limit of close`() throws {
    let ran = Watched(0)
    hosted.loop.post { ran.update { $0 += 1 } }
    // This work posts itself again each time it runs.
    let again = Again(on: hosted.loop)
    again.run()
    #expect(try hosted.close(within: .milliseconds(20)))
    #expect(ran.value == 1)
    #expect(again.count.value > 1)
    #expect(try !hosted.turn())
  }

  @Test func `close returns false if the loop's thread does not call turn, and the next turn ends the loop`() throws {
    let hosted = hosted
    #expect(try hosted.turn())
    let ran = Watched(false)
    hosted.loop.post { ran.update { $0 = true } }
    let (thread, ends) = try elsewhere { try hosted.close(within: .milliseconds(20)) }
    thread.join()
    #expect(try ends.value?.get() == false)
    #expect(!ran.value)
    #expect(isReadable)
    #expect(try !hosted.turn())
    #expect(ran.value)
    #expect(try hosted.close())
  }

  @Test func `a turn on another thread is refused and runs nothing until the owner hands over the loop`() throws {
    let hosted = hosted
    #expect(try hosted.turn())
    let ran = Watched(0)
    hosted.loop.post { ran.update { $0 += 1 } }

    let (first, refused) = try elsewhere { try hosted.turn() }
    first.join()
    let error = #expect(throws: TransportError.self) { try refused.value?.get() }
    #expect(error?.code == .wrongThread)
    #expect(error?.message.hasPrefix("event loop 0: turn() was called on thread ") == true)
    // The file begins with the kernel's id of this thread.
    let own = try FileTree.readText("/proc/thread-self/stat").prefix { $0 != " " }
    #expect(error?.message.hasSuffix(": thread \(own) has the loop, and must call handOver() first") == true)
    #expect(ran.value == 0)

    let (second, seized) = try elsewhere { try hosted.handOver() }
    second.join()
    #expect(throws: TransportError.self) { try seized.value?.get() }

    try hosted.handOver()
    let (third, turned) = try elsewhere {
      defer { try? hosted.handOver() }
      return try hosted.turn()
    }
    third.join()
    #expect(try turned.value?.get() == true)
    #expect(ran.value == 1)
    #expect(try hosted.close())
  }

  @Test func `code that a loop calls can neither run nor close a loop`() async throws {
    let hosted = hosted
    let errors = Watched<[TransportError]>([])
    let misuse: @Sendable () -> Void = {
      for call in [{ _ = try hosted.turn() }, { try hosted.handOver() }, { try hosted.close() }] as [() throws -> Void]
      {
        do { try call() } catch { errors.update { if let error = error as? TransportError { $0.append(error) } } }
      }
    }
    hosted.loop.post(misuse)
    #expect(try hosted.turn())
    #expect(errors.value.count == 3)
    let other = try Loop()
    other.post(misuse)
    try await errors.wait(for: "the refusals on another loop") { $0.count == 6 }
    other.shutdown()
    #expect(errors.value.allSatisfy { $0.code == .wrongThread })
    #expect(errors.value.allSatisfy { $0.message.contains("the caller is itself called by an event loop") })
    #expect(errors.value.first?.message.hasPrefix("event loop 0: turn() was called on thread ") == true)
  }

  /// Runs the body on a new thread.
  private func elsewhere<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) throws -> (ForeignThread, Watched<Result<Value, any Error>?>) {
    let result = Watched<Result<Value, any Error>?>(nil)
    let ready = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(ready) }
    let thread = try ForeignThread(waitingFor: ready) {
      let value = Result { try body() }
      result.update { $0 = value }
      return false
    }
    _ = result.waitBlocking { $0 != nil }
    return (thread, result)
  }
}

extension HostedLoop {
  /// Starts a thread in C that runs the loop until the loop has ended.
  fileprivate func drive() throws -> ForeignThread {
    try ForeignThread(waitingFor: descriptor) { [self] in (try? turn()) ?? false }
  }

  fileprivate var isReadable: Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waited, 1, 0) == 1
  }
}

/// Work that posts itself again until ``stop()`` is called.
private final class Again: Sendable {
  let count = Watched(0)
  private let isStopped = Watched(false)
  private let loop: Loop

  init(on loop: Loop) { self.loop = loop }

  func run() {
    count.update { $0 += 1 }
    if !isStopped.value { loop.post { self.run() } }
  }

  func stop() { isStopped.update { $0 = true } }
}

/// Arms timers 1, 2 and 3, and moves timer 1 behind timer 2.
private final class OrderedTimers: LoopTimerTarget, @unchecked Sendable {
  // `@unchecked Sendable` is safe because only code on the loop touches the timers.
  let fired = Watched<[Int]>([])
  let early = Watched(0)
  private let timers = (0..<4).map { _ in LoopTimer() }
  private var loop: Loop?

  func schedule(on loop: Loop) {
    self.loop = loop
    let now = loop.now
    for number in 1...3 { loop.arm(timers[number], at: now + .milliseconds(number * 2), for: self) }
    loop.arm(timers[1], at: now + .milliseconds(5), for: self)
  }

  func timerDidFire(_ timer: LoopTimer) {
    let number = timers.firstIndex { $0 === timer } ?? -1
    if let loop, loop.now < timer.deadline { early.update { $0 += 1 } }
    fired.update { $0.append(number) }
  }
}
