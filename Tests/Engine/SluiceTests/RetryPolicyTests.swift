import Glibc
import Sluice
import SluiceMessages
import SluicePipeline
import SluicePlugin
import SluiceServer
import SluiceTestKit
import SluiceTestServers
import Testing

/// The retry policy over real sockets.
@Suite struct RetryPolicyTests {
  private static let quick = Backoff(base: .milliseconds(1), maximum: .milliseconds(5))

  private static func configuration(_ policy: RetryPolicy, attempts: Int = 3) -> Configuration {
    var configuration = Configuration()
    configuration.retry = policy
    configuration.retry.backoff = quick
    configuration.maximumAttempts = attempts
    return configuration
  }

  /// Returns a server that answers its first requests with these responses, and all others with 200.
  private static func server(_ first: [ServerResponse]) throws -> LoopbackServer {
    let rest = Watched(first[...])
    return try LoopbackServer { _ in rest.update { $0.popFirst() } ?? .text("ok\n") }
  }

  private static func send(
    _ configuration: Configuration, _ base: String, _ method: String = "GET", body: Body = .empty, count: Int = 1
  ) async throws -> [TransactionResult] {
    let engine = try Engine(configuration)
    var results: [TransactionResult] = []
    for _ in 0..<count {
      results.append(await engine.transaction(Request(method: method, url: try HTTPURL(base + "/a"), body: body)))
    }
    await engine.shutdown()
    return results
  }

  private static func one(
    _ configuration: Configuration, _ base: String, _ method: String = "GET", body: Body = .empty
  ) async throws -> TransactionResult {
    try #require(try await send(configuration, base, method, body: body).first)
  }

  @Test(arguments: ["GET", "PUT", "DELETE"])
  func `statuses 503 and 429 are retried until the server works`(method: String) async throws {
    let server = try Self.server([ServerResponse(status: 503), ServerResponse(status: 429)])
    defer { server.stop() }
    let result = try await Self.one(Self.configuration(.standard), server.baseURL, method)
    #expect(result.error == nil)
    #expect(result.attempts == 3)
    #expect(server.requests.map(\.method) == [method, method, method])
  }

  @Test func `a POST is not retried after a 503`() async throws {
    let server = try Self.server([ServerResponse(status: 503)])
    defer { server.stop() }
    let result = try await Self.one(Self.configuration(.standard), server.baseURL, "POST", body: .text("pay"))
    #expect(result.error?.code == "http_status")
    #expect(server.requestCount == 1)
  }

  @Test func `the wait before a retry obeys a Retry-After in seconds`() async throws {
    let server = try Self.server([ServerResponse(status: 503, headers: [HeaderLine("Retry-After", "1")])])
    defer { server.stop() }
    let result = try await Self.one(Self.configuration(.standard), server.baseURL)
    #expect(result.attempts == 2)
    #expect(result.duration >= .seconds(1))
  }

  @Test func `the wait before a retry obeys a Retry-After that is a date`() async throws {
    let (asked, came) = (Watched<Int64>(0), Watched<Int64>(0))
    let server = try LoopbackServer { _ in
      // time() is not used because it might be a tick behind this clock.
      var clock = timespec()
      clock_gettime(CLOCK_REALTIME, &clock)
      let now = Int64(clock.tv_sec)
      guard asked.value == 0 else {
        came.update { $0 = now }
        return .text("ok\n")
      }
      asked.update { $0 = now + 2 }
      let date = HTTPDate(secondsSince1970: now + 2)
      return ServerResponse(status: 429, headers: [HeaderLine("Retry-After", "\(date)")])
    }
    defer { server.stop() }
    let result = try await Self.one(Self.configuration(.standard), server.baseURL)
    #expect(result.attempts == 2)
    #expect(asked.value > 0)
    #expect(came.value >= asked.value)
  }

  @Test func `if Retry-After points past the deadline, the response is returned at once`() async throws {
    var answer = ServerResponse.text("busy", status: 503)
    answer.headers.append(HeaderLine("Retry-After", "3600"))
    let server = try Self.server([answer])
    defer { server.stop() }
    let result = try await Self.one(Self.configuration(.standard), server.baseURL)
    #expect(result.attempts == 1)
    #expect(result.error?.code == "http_status")
    #expect(result.error?.message.contains("would have to wait 3600.0 seconds, but the deadline leaves") == true)
    #expect(result.response?.body.bytes == Array("busy".utf8))
  }

  @Test func `a request whose connection is refused is retried, even a POST`() async throws {
    let port = try Loopback.freePort()
    let result = try await Self.one(
      Self.configuration(.standard), "http://127.0.0.1:\(port)", "POST", body: .text("pay"))
    #expect(result.attempts == 3)
    #expect(result.error?.code == "connect")
  }

  @Test func `a request whose connection is closed before the response is retried`() async throws {
    let server = try ScriptedServer([[.receiveRequest, .reset], ScriptStep.respond(body: "well")])
    let result = try await Self.one(Self.configuration(.standard), server.baseURL)
    #expect(result.attempts == 2)
    #expect(result.response?.body.bytes == Array("well".utf8))
  }

  @Test func `a POST whose connection is closed after it was sent is not retried`() async throws {
    let server = try ScriptedServer([[.receiveRequest, .reset], ScriptStep.respond(body: "well")])
    let result = try await Self.one(Self.configuration(.standard), server.baseURL, "POST", body: .text("pay"))
    #expect(result.attempts == 1)
    #expect(result.error?.code == "connection_lost")
    #expect(server.connectionCount == 1)
  }

  @Test func `a response whose body is cut off is fetched again completely`() async throws {
    let server = try ScriptedServer([
      [.receiveRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")],
      ScriptStep.respond(body: "0123456789"),
    ])
    let result = try await Self.one(Self.configuration(.standard), server.baseURL)
    #expect(result.attempts == 2)
    #expect(result.response?.body.bytes == Array("0123456789".utf8))
  }

  @Test func `an attempt that takes too long is retried`() async throws {
    let never = Signal()
    let server = try ScriptedServer([[.receiveRequest, .wait(never)], ScriptStep.respond(body: "well")])
    var configuration = Self.configuration(.standard)
    configuration.transport.timeout = .milliseconds(200)
    let result = try await Self.one(configuration, server.baseURL)
    #expect(result.attempts == 2)
    #expect(result.error == nil)
  }

  /// Returns a server whose first connection answers one request and is closed when the second request arrives.
  private static func dyingServer() throws -> ScriptedServer {
    try ScriptedServer([
      ScriptStep.respond(body: "1") + [.receiveRequest], ScriptStep.respond(body: "2"),
    ])
  }

  @Test func `by default, a GET on a kept connection that died is retried at once`() async throws {
    let server = try Self.dyingServer()
    let results = try await Self.send(Configuration(), server.baseURL, count: 2)
    #expect(results.map(\.error) == [nil, nil])
    #expect(results.map(\.attempts) == [1, 2])
    #expect(results.last?.response?.body.bytes == Array("2".utf8))
  }

  @Test func `a POST on a kept connection that died is not sent a second time`() async throws {
    let server = try Self.dyingServer()
    let engine = try Engine(Self.configuration(.standard))
    let url = try HTTPURL(server.baseURL + "/a")
    _ = try await engine.perform(Request(url: url))
    let result = await engine.transaction(Request(method: "POST", url: url, body: .text("pay")))
    #expect(result.error?.code == "resent")
    #expect(result.attempts == 1)
    #expect(server.receivedText.joined().split(separator: "POST ").count == 2)
    await engine.shutdown()
  }

  @Test func `a body that cannot be produced again is never sent twice, and the error says why`() async throws {
    let server = try Self.dyingServer()
    let engine = try Engine(Self.configuration(.standard))
    let url = try HTTPURL(server.baseURL + "/a")
    _ = try await engine.perform(Request(url: url))
    let pieces = Watched([Array("once".utf8)][...])
    let body = Body.stream(BodyStream(byteCount: 4) { _ in pieces.update { $0.popFirst() } })
    let result = await engine.transaction(Request(method: "PUT", url: url, body: body))
    #expect(result.error?.code == "resent")
    #expect(result.error?.message.contains("it is not known whether the server executed it") == true)
    #expect(result.attempts == 1)
    #expect(server.receivedText.joined().split(separator: "once", omittingEmptySubsequences: false).count == 2)
    await engine.shutdown()
  }

  @Test func `a response to a body that cannot be produced again is returned, and a stage's retry fails`()
    async throws
  {
    let server = try LoopbackServer { _ in .text("busy", status: 503) }
    defer { server.stop() }
    func once() -> Body {
      let pieces = Watched([Array("once".utf8)][...])
      return .stream(BodyStream { _ in pieces.update { $0.popFirst() } })
    }
    let result = try await Self.one(Self.configuration(.standard), server.baseURL, "PUT", body: once())
    #expect(result.error?.code == "http_status")
    #expect(result.response?.body.bytes == Array("busy".utf8))
    var configuration = Self.configuration(.standard)
    configuration.addStage("again", StageCode(response: { _, _ in throw RetryRequestError() }))
    let refused = try await Self.one(configuration, server.baseURL, "PUT", body: once())
    #expect(refused.error?.code == "body_not_replayable")
    #expect(refused.error?.stage == "again")
    #expect(server.requests.map(\.body) == [Array("once".utf8), Array("once".utf8)])
  }

  @Test
  func `if the policy retries, the request id stays, the attempt number grows, and each attempt has its own span`()
    async throws
  {
    let server = try Self.server([ServerResponse(status: 503), ServerResponse(status: 503)])
    defer { server.stop() }
    let text = """
      {"plugins": {"headers": {"builtin": "headers", "config": {"hosts": ["*"]}}}, "issue": ["headers"],
       "retry": {"maxAttempts": 3, "statuses": ["503"], "backoff": {"base": "1ms", "max": "1ms"}}}
      """
    var configuration = try Configuration(text: Array(text.utf8))
    configuration.addStage(
      "facts",
      StageCode(request: { request, context in
        request.headers["x-facts"] =
          "\(context.attemptNumber) \(context.requestID) \(request.headers["x-facts"] != nil)"
      }))
    let result = try await Self.one(configuration, server.baseURL)
    #expect(result.attempts == 3)
    func values(_ name: String) -> [String] {
      server.requests.flatMap { $0.headers.filter { $0.name.lowercased() == name }.map(\.value) }
    }
    #expect(values("x-facts") == (0..<3).map { "\($0) \(result.requestID) false" })
    let parents = values("traceparent").map { $0.split(separator: "-") }
    #expect(parents.count == 3)
    #expect(Set(parents.map { $0.dropFirst().first }).count == 1)
    #expect(Set(parents.map { $0.dropFirst(2).first }).count == 3)
  }

  @Test func `a body in a file is sent completely with every attempt`() async throws {
    let server = try Self.server([ServerResponse(status: 503), ServerResponse(status: 503)])
    defer { server.stop() }
    let folder = try TemporaryDirectory()
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let path = try folder.write(bytes, to: "body")
    let result = try await Self.one(
      Self.configuration(.standard), server.baseURL, "PUT", body: .file(FileBody(path: path, byteCount: bytes.count)))
    #expect(result.attempts == 3)
    #expect(server.requests.map { $0.body == bytes } == [true, true, true])
  }

  @Test func `a POST that was redirected to a GET is not retried when the GET fails`() async throws {
    let server = try LoopbackServer { request in
      guard request.method == "POST" else { return ServerResponse(status: 503) }
      return ServerResponse(status: 303, headers: [HeaderLine("Location", "/b")])
    }
    defer { server.stop() }
    let result = try await Self.one(Self.configuration(.standard), server.baseURL, "POST", body: .text("pay"))
    #expect(result.error?.code == "http_status")
    #expect(result.attempts == 1)
    #expect(server.requests.map(\.method) == ["POST", "GET"])
  }

  /// Runs the given number of transactions, 40 at a time, and returns the number of attempts.
  private static func storm(_ configuration: Configuration, _ url: HTTPURL, transactions: Int) async throws -> Int {
    let engine = try Engine(configuration)
    let attempts = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<40 {
        group.addTask {
          var attempts = 0
          for _ in 0..<transactions / 40 { attempts += await engine.transaction(Request(url: url)).attempts }
          return attempts
        }
      }
      return await group.reduce(0, +)
    }
    await engine.shutdown()
    return attempts
  }

  @Test(arguments: [3, 10])
  func `if 30 or 100 percent of responses are errors, the budget limits the extra load`(tenths: Int) async throws {
    let transactions = 3000
    let count = Watched(0)
    let server = try LoopbackServer(recording: .countOnly) { _ in
      let number = count.update {
        $0 += 1
        return $0
      }
      return number % 10 < tenths ? ServerResponse(status: 503) : .text("ok\n")
    }
    defer { server.stop() }
    var configuration = Self.configuration(.standard)
    configuration.transport.loops = 2
    let url = try HTTPURL(server.baseURL + "/a")
    let clock = ContinuousClock()
    let started = clock.now
    let attempts = try await Self.storm(configuration, url, transactions: transactions)
    let seconds = Int((clock.now - started).components.seconds) + 1
    let extra = server.requestCount - transactions
    // The budget allows one retry for every five transactions. In addition, it allows each of the two loops ten
    // retries, and one more each second.
    let bound = transactions / 5 + 2 * (10 + seconds)
    #expect(server.requestCount == attempts)
    #expect(extra <= bound, "\(extra) extra requests in \(seconds) s")
    // The budget has an effect: without it, there would be 1,170 or 6,000 more attempts.
    #expect(extra >= transactions / 5 - 2 * 100)

    configuration.retry.budget = 100
    let before = server.requestCount
    _ = try await Self.storm(configuration, url, transactions: transactions)
    #expect(server.requestCount - before - transactions > bound)
  }
}
