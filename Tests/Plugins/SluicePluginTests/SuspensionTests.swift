import CSluice
import SluicePlugin
import SluiceTestKit
import Testing

/// Methods that wait, with a host whose loop runs on another thread.
struct SuspensionTests {
  @Test func `a method that waits is resumed on the loop, and can change the request there`() async throws {
    let gate = Signal()
    let instance = try Scripted.instance { request, _ in
      request.headers["x-before"] = "1"
      try await gate.wait()
      request.headers["x-after"] = "2"
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    #expect(exchange.header(0, "x-before") == "1")
    gate.set()
    let verdict = try await exchange.resumption.wait { $0 != nil }
    #expect(verdict == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.header(0, "x-after") == "2")
    #expect(exchange.violations == 0)
  }

  @Test func `the answer of a resumed method, or the error that it throws, decides the verdict`() async throws {
    let gate = Signal()
    let retry = try Scripted.instance(named: "late retry") { _, _ in
      try await gate.wait()
      throw RetryRequestError(after: .seconds(2))
    }
    let respond = try Scripted.instance(named: "late respond") { request, _ in
      try await gate.wait()
      request.respond(status: 418)
    }
    let (first, second) = (StubExchange(), StubExchange())
    #expect(retry.request(first) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    #expect(respond.request(second) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    gate.set()
    #expect(try await first.resumption.wait { $0 != nil } == sluice_verdict(SLUICE_VERDICT_RETRY))
    #expect(first.retryDelay == 2_000_000_000)
    #expect(try await second.resumption.wait { $0 != nil } == sluice_verdict(SLUICE_VERDICT_RESPOND))
    #expect(second.status == 418)
  }

  @Test func `a method can switch between actors without a suspension if it does not have to wait`() throws {
    actor Counter {
      private var count = 0
      func increment() -> Int {
        count += 1
        return count
      }
    }
    let counter = Counter()
    let instance = try Scripted.instance { request, _ in
      await Task.yield()
      request.headers["x-count"] = "\(await counter.increment())"
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.header(0, "x-count") == "1")
    #expect(exchange.token == nil)
  }

  @Test func `a task that runs endlessly without waiting is suspended and does not block the loop`() async throws {
    let mayStop = Signal()
    let instance = try Scripted.instance { _, _ in
      while !mayStop.isSet { await Task.yield() }
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    mayStop.set()
    #expect(try await exchange.resumption.wait { $0 != nil } == sluice_verdict(SLUICE_VERDICT_CONTINUE))
  }

  @Test func `child tasks run on the loop and can use the request`() async throws {
    let instance = try Scripted.instance { request, _ in
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<100 {
          group.addTask { request.headers["x-\(index)"] = "1" }
        }
      }
    }
    let exchange = StubExchange()
    if instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED) {
      try await exchange.resumption.wait { $0 != nil }
    }
    #expect(exchange.sides[0].fields.count == 100)
    #expect(exchange.violations == 0)
  }

  @Test func `a call that the host has cancelled sees a cancelled task and dead handles`() async throws {
    let ended = Watched<String?>(nil)
    let instance = try Scripted.instance { request, _ in
      do {
        try await untilCancelled()
      } catch {
        request.headers["x-late"] = "1"
        ended.update { $0 = "\(Task.isCancelled) \(request.url)" }
        throw error
      }
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    instance.cancel(exchange)
    #expect(try await ended.wait { $0 != nil } == "true ")
    #expect(exchange.resumption.value == nil)
    #expect(exchange.header(0, "x-late") == nil)
    #expect(instance.host.log.value.isEmpty)
  }

  @Test func `if the exchange has ended, the task is cancelled when it resumes`() async throws {
    let gate = Signal()
    let wasCancelled = Watched<Bool?>(nil)
    let instance = try Scripted.instance { _, _ in
      try? await gate.wait()
      wasCancelled.update { $0 = Task.isCancelled }
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    exchange.isGone.update { $0 = true }
    gate.set()
    #expect(try await wasCancelled.wait { $0 != nil } == true)
    #expect(exchange.resumption.value == nil)
  }

  @Test func `a task that outlives its instance ends without calling the host`() async throws {
    let gate = Signal()
    let ended = Signal()
    let instance = try Scripted.instance { request, _ in
      await gate.waitIgnoringCancellation()
      request.headers["x"] = "1"
      ended.set()
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    instance.cancel(exchange)
    instance.end()
    gate.set()
    try await ended.wait()
    #expect(exchange.header(0, "x") == nil)
  }

  @Test func `a task can end even if the host accepts no more work`() async throws {
    let gate = Signal()
    let ended = Signal()
    let instance = try Scripted.instance { _, _ in
      await gate.waitIgnoringCancellation()
      ended.set()
    }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    instance.host.isClosing.update { $0 = true }
    gate.set()
    try await ended.wait()
    #expect(exchange.resumption.value == nil)
  }

  @Test func `if a method waits but the host cannot suspend the call, the call fails`() async throws {
    let ended = Signal()
    let instance = try Scripted.instance { _, _ in
      defer { ended.set() }
      try await untilCancelled()
    }
    let exchange = StubExchange()
    exchange.mayBeSuspended = false
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_FAIL))
    #expect(exchange.failure?.message == "the stage had to wait in a call that cannot be suspended")
    try await ended.wait()
  }

  @Test func `two thousand waiting calls all end, and leave nothing behind`() async throws {
    final class Trace: Sendable {
      let gone: Watched<Int>
      init(_ gone: Watched<Int>) { self.gone = gone }
      deinit { gone.update { $0 += 1 } }
    }
    let gone = Watched(0)
    let instance = try Scripted.instance { request, _ in
      let trace = Trace(gone)
      await Task.detached {}.value
      request.headers["x"] = "1"
      withExtendedLifetime(trace) {}
    }
    let exchanges = (0..<2000).map { _ in StubExchange() }
    let verdicts = exchanges.map { instance.request($0) }
    for (exchange, verdict) in zip(exchanges, verdicts) where verdict == sluice_verdict(SLUICE_VERDICT_SUSPENDED) {
      #expect(try await exchange.resumption.wait { $0 != nil } == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    }
    #expect(exchanges.allSatisfy { $0.header(0, "x") == "1" && $0.violations == 0 })
    #expect(try await gone.wait { $0 == 2000 } == 2000)
  }
}

extension Signal {
  /// Waits for the gate even if the task is cancelled.
  fileprivate func waitIgnoringCancellation() async {
    _ = await Task.detached { try? await self.wait() }.value
  }
}
