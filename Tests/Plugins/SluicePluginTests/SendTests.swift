import CSluice
import SluiceJSON
import SluiceTestKit
import Testing

@testable import SluicePlugin

/// `PluginHost.send` and `PluginHost.task` over a stub of the C table. `SluiceTests` tests them over real sockets.
struct SendTests {
  private static let call = CallRequest(url: "http://users.example.com/")

  @Test func `on a host without call-outs, send throws at once`() async throws {
    let host = StubHost()
    let failure = await #expect(throws: StageFailure.self) { try await PluginHost(host.table).send(Self.call) }
    #expect(failure?.code == "unsupported")
  }

  @Test(arguments: [
    (SLUICE_STATUS_LIMIT, "limit"), (SLUICE_STATUS_CLOSING, "closing"), (SLUICE_STATUS_STALE, "cancelled"),
    (SLUICE_STATUS_REFUSED, "refused"),
    (SLUICE_STATUS_INVALID, "invalid_request"), (99, "refused"),
  ])
  func `if the host refuses the start of a call-out, send throws an error with its own code`(
    _ status: Int, _ code: String
  ) async throws {
    let host = StubHost()
    let calls = StubCallOuts(host, status: status)
    let failure = await #expect(throws: StageFailure.self) { try await PluginHost(host.table).send(Self.call) }
    #expect(failure?.code.rawValue == code)
    #expect(calls.started.value.isEmpty)
  }

  @Test func `the request is a document with lower-case names, arrays for repeated names, and any bytes`() async throws
  {
    let host = StubHost()
    let calls = StubCallOuts(host) { $0.answer(["status": 204]) }
    var call = CallRequest(
      method: "PUT", url: "http://a/", headers: ["X-One": "1", "Many": "a", "many": "b", "MANY": "c"], body: [0, 255],
      timeout: .milliseconds(5), maximumResponseBytes: 7)
    call.headers.append(("x-late", "2"))
    let answer = try await PluginHost(host.table).send(call)
    #expect(answer.status == 204)
    #expect(answer.body.isEmpty)
    let start = try #require(calls.started.value.first)
    #expect(
      start.request == [
        "method": "PUT", "url": "http://a/", "headers": ["x-one": "1", "many": ["a", "b", "c"], "x-late": "2"],
        "body": ["base64": "AP8="],
      ])
    #expect(start.options.timeout_ns == 5_000_000)
    #expect(start.options.maximum_response_bytes == 7)
    #expect(start.options.parent.nonce == 0)
  }

  @Test func `the response has all its parts, in every form that a document can have`() async throws {
    let host = StubHost()
    let calls = StubCallOuts(host) {
      $0.answer([
        "status": 500, "headers": ["a": ["1", "2"], "b": ["base64": "w6Q="]], "body": ["base64": "AP8="],
      ])
    }
    let answer = try await PluginHost(host.table).send(Self.call)
    #expect(answer.status == 500)
    #expect(answer.headers.filter { $0.name == "a" }.map(\.value) == ["1", "2"])
    #expect(answer.header("A") == "1")
    #expect(answer.header("B") == "ä")
    #expect(answer.header("c") == nil)
    #expect(answer.body == [0, 255])
    #expect(throws: StageFailure.self) { try answer.json() }
    #expect(calls.started.value.count == 1)
  }

  @Test func `if a call-out completes with an error, send throws an error with its code`() async throws {
    let host = StubHost()
    _ = StubCallOuts(host) { $0.fail("dns") }
    let failure = await #expect(throws: StageFailure.self) { try await PluginHost(host.table).send(Self.call) }
    #expect(failure?.code == "dns")
  }

  @Test func `a cancelled task cancels its call-out, and throws when the call-out completes`() async throws {
    let host = StubHost()
    let calls = StubCallOuts(host)
    let pluginHost = PluginHost(host.table)
    let task = Task { try await pluginHost.send(Self.call) }
    let started = try await calls.started.wait { $0.count == 1 }
    task.cancel()
    try await calls.cancelled.wait { $0 == [1] }
    started.first?.fail("cancelled")
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(calls.cancelled.value == [1])
  }

  @Test func `a response that arrives in spite of the cancellation is returned`() async throws {
    let host = StubHost()
    let calls = StubCallOuts(host)
    let pluginHost = PluginHost(host.table)
    let task = Task { try await pluginHost.send(Self.call) }
    let started = try await calls.started.wait { $0.count == 1 }
    task.cancel()
    started.first?.answer(["status": 200])
    #expect(try await task.value.status == 200)
  }

  @Test func `a task that is already cancelled starts no call-out`() async throws {
    let host = StubHost()
    let calls = StubCallOuts(host)
    let pluginHost = PluginHost(host.table)
    let gate = Signal()
    let task = Task {
      try? await gate.wait()
      return try await pluginHost.send(Self.call)
    }
    task.cancel()
    gate.set()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(calls.started.value.isEmpty)
  }

  @Test func `a call-out on behalf of a request has the request's token as its parent, even before it is suspended`()
    async throws
  {
    let box = Watched<PluginHost?>(nil)
    let instance = try Scripted.instance { request, _ in
      guard let host = box.value else { return }
      let first = try await host.send(Self.call, onBehalfOf: request)
      let second = try await host.send(Self.call, onBehalfOf: request)
      request.headers["x-statuses"] = "\(first.status) \(second.status)"
    }
    let calls = StubCallOuts(instance.host)
    box.update { $0 = PluginHost(instance.host.table) }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_SUSPENDED))
    let first = try await calls.started.wait { $0.count == 1 }
    first.last?.answer(["status": 201])
    let second = try await calls.started.wait { $0.count == 2 }
    second.last?.answer(["status": 202])
    #expect(try await exchange.resumption.wait { $0 != nil } == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.header(0, "x-statuses") == "201 202")
    let token = try #require(exchange.token)
    #expect(second.map(\.options.parent.nonce) == [token.nonce, token.nonce])
    #expect(exchange.violations == 0)
  }

  @Test func `a call-out that completes at once needs no suspension`() async throws {
    let box = Watched<PluginHost?>(nil)
    let instance = try Scripted.instance { request, _ in
      let answer = try await box.value?.send(Self.call)
      request.headers["x-status"] = answer.map { "\($0.status)" }
    }
    _ = StubCallOuts(instance.host) { $0.answer(["status": 200]) }
    box.update { $0 = PluginHost(instance.host.table) }
    let exchange = StubExchange()
    #expect(instance.request(exchange) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    #expect(exchange.header(0, "x-status") == "200")
  }

  @Test func `a request whose exchange has ended cannot be a parent`() async throws {
    let kept = Watched<StageRequest?>(nil)
    let instance = try Scripted.instance { request, _ in kept.update { $0 = request } }
    let calls = StubCallOuts(instance.host)
    #expect(instance.request(StubExchange()) == sluice_verdict(SLUICE_VERDICT_CONTINUE))
    let request = try #require(kept.value)
    let failure = await #expect(throws: StageFailure.self) {
      try await PluginHost(instance.host.table).send(Self.call, onBehalfOf: request)
    }
    #expect(failure?.code == "cancelled")
    #expect(calls.started.value.isEmpty)
  }

  @Test func `a task of the host runs on the host's loop, or on another thread if the host is closing`()
    async throws
  {
    let host = StubHost()
    let pluginHost = PluginHost(host.table)
    #expect(try await pluginHost.task { 7 }.value == 7)
    #expect(host.postCount.value > 0)
    host.isClosing.update { $0 = true }
    let before = host.postCount.value
    #expect(try await pluginHost.task { 8 }.value == 8)
    #expect(host.postCount.value == before)
  }
}
