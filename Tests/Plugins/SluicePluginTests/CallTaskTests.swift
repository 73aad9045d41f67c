import CSluice
import SluiceSupport
import SluiceTestKit
import Testing

@testable import SluicePlugin

/// The task that runs the methods of several calls, one after another. Nothing that a call leaves behind may affect the
/// next call.
struct CallTaskTests {
  private static let goesOn = sluice_verdict(SLUICE_VERDICT_CONTINUE)

  /// Returns a number that identifies the current task.
  private static func currentTask() -> Int { withUnsafeCurrentTask { $0.hashValue } }

  @Test func `calls that do not wait run in one task`() throws {
    let seen = Locked<[Int]>([])
    let instance = try Scripted.instance { _, _ in
      let task = Self.currentTask()
      seen.withLock { $0.append(task) }
    }
    for _ in 0..<3 { #expect(instance.request(StubExchange()) == Self.goesOn) }
    #expect(Set(seen.withLock { $0 }).count == 1)
    #expect(seen.withLock { $0.count } == 3)
  }

  @Test func `a request that the plugin has kept from an ended call is dead, even during the next call`() throws {
    let kept = Locked<StageRequest?>(nil)
    let instance = try Scripted.instance { request, _ in
      if let old = kept.withLock({ $0 }) {
        old.headers["x-stale"] = "1"
        request.headers["x-url"] = old.url
      } else {
        kept.withLock { $0 = request }
      }
      request.headers["x-call"] = "1"
    }
    #expect(instance.request(StubExchange()) == Self.goesOn)
    let second = StubExchange()
    #expect(instance.request(second) == Self.goesOn)
    #expect(second.header(0, "x-stale") == nil)
    #expect(second.header(0, "x-url")?.isEmpty == true)
    #expect(second.header(0, "x-call") == "1")
    #expect(second.violations == 0)
    #expect(instance.host.log.value.count == 1)
  }

  @Test func `a context that the plugin has kept still has the facts of its own call`() throws {
    let kept = Locked<[RequestContext]>([])
    let keepsThem = Locked(true)
    let instance = try Scripted.instance { _, context in
      guard keepsThem.withLock({ $0 }) else { return #expect(context.requestID == "last") }
      kept.withLock { $0.append(context) }
    }
    func call(_ id: String, baggage: Int) {
      let exchange = StubExchange()
      exchange.context.attempt = UInt32(id.utf8.count)
      exchange.context.request_id = exchange.lend(id.utf8)
      exchange.context.parent_baggage = exchange.lend(Array(repeating: UInt8(ascii: "b"), count: baggage))
      #expect(instance.request(exchange) == Self.goesOn)
    }
    // The texts are longer or shorter than in the previous call. Some do not fit into the memory that is reused for the
    // next call.
    let calls = [("a", 0), ("bb", 300), ("ccc", 10_000), ("dddd", 5), ("", 5)]
    for (id, baggage) in calls { call(id, baggage: baggage) }
    keepsThem.withLock { $0 = false }
    for size in [0, 10_000, 20] { call("last", baggage: size) }
    let contexts = kept.withLock { $0 }
    #expect(contexts.map(\.requestID) == calls.map(\.0))
    #expect(contexts.map(\.attemptNumber) == calls.map(\.0.utf8.count))
    #expect(contexts.map { $0.parent.baggage?.utf8.count ?? 0 } == calls.map(\.1))
    #expect(contexts.allSatisfy { $0 == $0 } && Set(contexts).count == contexts.count)
  }

  @Test func `a refused write of one call does not fail the next call`() throws {
    let isFirst = Locked(true)
    let instance = try Scripted.instance { request, _ in
      let value = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst ? "a\r\nb" : "a"
      }
      request.headers["x-a"] = value
    }
    #expect(instance.request(StubExchange()) == sluice_verdict(SLUICE_VERDICT_FAIL))
    let second = StubExchange()
    #expect(instance.request(second) == Self.goesOn)
    #expect(second.header(0, "x-a") == "a")
  }

  @Test func `an answer of one call is not the verdict of the next call`() throws {
    let isFirst = Locked(true)
    let instance = try Scripted.instance { request, _ in
      let answers = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      if answers { request.respond(status: 204) }
    }
    #expect(instance.request(StubExchange()) == sluice_verdict(SLUICE_VERDICT_RESPOND))
    #expect(instance.request(StubExchange()) == Self.goesOn)
  }

  @Test func `a task that a method has cancelled does not run the next call`() throws {
    let seen = Locked<[Bool]>([])
    let instance = try Scripted.instance { _, _ in
      let isCancelled = Task.isCancelled
      seen.withLock { $0.append(isCancelled) }
      withUnsafeCurrentTask { $0?.cancel() }
    }
    for _ in 0..<2 { #expect(instance.request(StubExchange()) == Self.goesOn) }
    #expect(seen.withLock { $0 } == [false, false])
  }

  @Test func `a call that the host has cancelled does not cancel the next call`() async throws {
    let ended = Watched(0)
    let instance = try Scripted.instance { request, _ in
      guard request.headers["x-wait"] != nil else { return try Task.checkCancellation() }
      defer { ended.update { $0 += 1 } }
      try await untilCancelled()
    }
    let waiting = StubExchange()
    waiting.sides[0].fields = [("x-wait", "1")]
    #expect(instance.request(waiting) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    #expect(instance.request(StubExchange()) == Self.goesOn)
    instance.cancel(waiting)
    try await ended.wait { $0 == 1 }
    for _ in 0..<2 { #expect(instance.request(StubExchange()) == Self.goesOn) }
  }

  @Test func `calls that wait at the same time have separate tasks, which later calls reuse`() async throws {
    let gate = Signal()
    let seen = Locked<Set<Int>>([])
    let instance = try Scripted.instance { request, _ in
      let task = Self.currentTask()
      seen.withLock { _ = $0.insert(task) }
      if request.headers["x-wait"] != nil { try await gate.wait() }
    }
    let waiting = (0..<5).map { _ in
      let exchange = StubExchange()
      exchange.sides[0].fields = [("x-wait", "1")]
      return exchange
    }
    for exchange in waiting { #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED)) }
    #expect(seen.withLock { $0.count } == 5)
    gate.set()
    for exchange in waiting { #expect(try await exchange.resumption.wait { $0 != nil } == Self.goesOn) }
    for _ in 0..<20 { #expect(instance.request(StubExchange()) == Self.goesOn) }
    #expect(seen.withLock { $0.count } == 5)
  }

  /// A call runs only a limited number of steps without being suspended. The numbers of yields are close to this limit.
  @Test(arguments: 28...38)
  func `a method that yields often ends, whether it is suspended or not`(_ pieces: Int) async throws {
    let instance = try Scripted.instance(named: "yields \(pieces) times") { _, _ in
      for _ in 0..<pieces { await Task.yield() }
    }
    for _ in 0..<3 {
      let exchange = StubExchange()
      var verdict: sluice_verdict? = instance.request(exchange)
      if verdict == sluice_verdict(SLUICE_VERDICT_SUSPENDED) {
        verdict = try await exchange.resumption.wait { $0 != nil }
      }
      #expect(verdict == Self.goesOn)
    }
  }

  @Test func `a call that must not be suspended leaves nothing behind`() async throws {
    let kept = Locked<StageRequest?>(nil)
    let ended = Signal()
    let instance = try Scripted.instance { request, _ in
      kept.withLock { $0 = request }
      defer { ended.set() }
      try await untilCancelled()
    }
    let exchange = StubExchange()
    exchange.mayBeSuspended = false
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_FAIL))
    weak let call = kept.withLock { $0.take() }?.call
    try await ended.wait()
    // This waits for the loop. The task ends there, after its method has returned.
    instance.end()
    #expect(call == nil)
  }

  /// The host asks a plugin how to transform a body in a call whose method has not begun. Such a call cannot be
  /// suspended.
  @Test func `a call whose method has not begun has no token, even if its task has run another call before`() throws {
    let instance = try Scripted.instance { _, _ in }
    #expect(instance.request(StubExchange()) == Self.goesOn)
    let hasToken = instance.onLoop(StubExchange()) { instance, exchange in
      guard let exchange, let tasks = Instance.from(instance)?.calls else { return true }
      let task = tasks.take()
      defer { tasks.give(task) }
      let call = task.makeCall(on: 0)
      call.enter(exchange)
      defer { call.leave() }
      return call.tokenForCalls() != nil
    }
    #expect(!hasToken)
  }

  @Test func `the tasks of an instance end with the instance`() async throws {
    weak var call: ExchangeCall?
    let kept = Locked<StageRequest?>(nil)
    let instance = try Scripted.instance { request, _ in kept.withLock { $0 = request } }
    #expect(instance.request(StubExchange()) == Self.goesOn)
    call = kept.withLock { $0.take() }?.call
    #expect(call != nil)
    instance.end()
    #expect(call == nil)
  }
}
