import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// The retry policy in a transaction. The test moves the clock.
@Suite struct RetryTests {
  private static let policy = RetryPolicy(
    statuses: StatusSet([429...429, 503...503]), connectionErrors: .always,
    backoff: Backoff(base: .seconds(1), maximum: .seconds(4)))
  private static let lost = TransportError(.connectionLost, "gone")
  private static let refused = TransportError(.connect, "refused", isBeforeSending: true)

  @Test func `a listed status is retried, and each wait is within the bound of the back-off`() throws {
    let fixture = RetryFixture(Self.policy, answer: RetryFixture.answers([503, 429]))
    let outcome = try fixture.begin()
    #expect(fixture.transport.issued.count == 1)
    fixture.loop.advance(by: .seconds(1))
    // The second wait can also be over by now.
    #expect(fixture.transport.issued.count >= 2)
    fixture.loop.advance(by: .seconds(2))
    let result = try #require(outcome.result)
    #expect(result.error == nil)
    #expect(result.attempts == 3)
    #expect(result.response?.body.bytes == Array("2".utf8))
    #expect(fixture.log.entries.map(\.status) == [503, 429])
    #expect(fixture.log.entries.map(\.code) == ["http_status", "http_status"])
    #expect(fixture.log.entries.allSatisfy { $0.delay <= .seconds(2) })
  }

  @Test func `a status that is not listed is not retried`() throws {
    let fixture = RetryFixture(Self.policy, answer: RetryFixture.answers([500]))
    let result = try fixture.run()
    #expect(result.attempts == 1)
    #expect(result.error?.code == "http_status")
  }

  @Test(arguments: ["7", "Sun, 06 Nov 1994 08:49:44 GMT", "Sunday, 06-Nov-94 08:49:44 GMT", "Sun Nov  6 08:49:44 1994"])
  func `the next attempt does not begin before the time in Retry-After`(retryAfter: String) throws {
    let fixture = RetryFixture(Self.policy, answer: RetryFixture.answers([503], headers: ["Retry-After": retryAfter]))
    fixture.loop.wallClockOrigin = .seconds(784_111_776)
    let outcome = try fixture.begin()
    fixture.loop.advance(by: .milliseconds(6999))
    #expect(fixture.transport.issued.count == 1)
    fixture.loop.advance(by: .milliseconds(1))
    #expect(fixture.transport.issued.count == 2)
    #expect(outcome.result?.attempts == 2)
  }

  @Test func `a retry whose wait would pass the deadline is not begun, and the response is the result`() throws {
    let fixture = RetryFixture(
      Self.policy, deadline: .seconds(60), answer: RetryFixture.answers([503], headers: ["Retry-After": "60"]))
    let result = try #require(try fixture.begin().result)
    #expect(result.attempts == 1)
    #expect(result.response?.body.bytes == Array("0".utf8))
    #expect(result.error?.code == "http_status")
    #expect(
      result.error?.message
        == "the server answered 503 to GET http://example.com/a; not repeated: the next attempt would have to wait 60.0 seconds,"
        + " but the deadline leaves 60.0 seconds")
    #expect(fixture.log.entries.isEmpty)
  }

  @Test func `a failure is the result if the wait for its retry would pass the deadline`() throws {
    let policy = RetryPolicy(connectionErrors: .always, backoff: Backoff(base: .seconds(3600), maximum: .seconds(3600)))
    let fixture = RetryFixture(policy, deadline: .milliseconds(1)) { _, _ in .failure(Self.lost) }
    let result = try #require(try fixture.begin().result)
    #expect(result.error?.code == "connection_lost")
    #expect(result.error?.message.hasPrefix("gone; not repeated: the next attempt would have to wait ") == true)
  }

  @Test func `after the last allowed attempt, the result is the last response`() throws {
    let fixture = RetryFixture(Self.policy, answer: RetryFixture.answers([503, 503, 503, 503]))
    let result = try fixture.run()
    #expect(result.attempts == 3)
    #expect(result.error?.code == "http_status")
    #expect(result.response?.body.bytes == Array("2".utf8))
  }

  @Test func `after the last allowed attempt, the result is the last failure`() throws {
    let fixture = RetryFixture(Self.policy) { _, _ in .failure(Self.lost) }
    let result = try fixture.run()
    #expect(result.attempts == 3)
    #expect(result.error?.code == "connection_lost")
    #expect(fixture.log.entries.map(\.code) == ["connection_lost", "connection_lost"])
  }

  @Test func `a POST is retried only if no part of it can have reached the server`() throws {
    #expect(try RetryFixture(Self.policy, answer: RetryFixture.answers([503])).run("POST").attempts == 1)
    #expect(try RetryFixture(Self.policy) { _, _ in .failure(Self.lost) }.run("POST").attempts == 1)
    #expect(try RetryFixture(Self.policy) { _, _ in .connectFailure(Self.refused) }.run("POST").attempts == 3)
    var policy = Self.policy
    policy.methods.append("POST")
    #expect(try RetryFixture(policy, answer: RetryFixture.answers([503])).run("POST").attempts == 2)
  }

  @Test func `the policy decides by the method that was sent, not only by the caller's`() throws {
    let fixture = RetryFixture(
      Self.policy,
      request: StubStage(.request) {
        $0.requestForms.native.method = "POST"
        return .proceed
      }, answer: RetryFixture.answers([503]))
    #expect(try fixture.run("GET").attempts == 1)
  }

  @Test func `the policy does not retry a body that can be produced only once, and the error does not mention it`()
    throws
  {
    let fixture = RetryFixture(Self.policy, answer: RetryFixture.answers([503]))
    let result = try fixture.run("PUT", body: .stream(BodyStream { _ in nil }))
    #expect(result.attempts == 1)
    #expect(result.error?.message == "the server answered 503 to PUT http://example.com/a")
  }

  @Test func `a stage's verdict has priority over the policy`() throws {
    let fixture = RetryFixture(
      Self.policy, response: StubStage(.response) { $0.attempt == 0 ? .retry(after: .zero) : .proceed },
      answer: RetryFixture.answers([503], headers: ["Retry-After": "30"]))
    let outcome = try fixture.begin()
    fixture.loop.advance(by: .zero)
    #expect(outcome.result?.attempts == 2)
    #expect(fixture.log.entries.map(\.delay) == [.zero])
    #expect(fixture.log.entries.map(\.code) == [nil])
  }

  @Test func `the policy decides about the status after all changes by stages`() throws {
    let fixture = RetryFixture(
      Self.policy,
      response: StubStage(.response) {
        $0.responseForms.native?.status = 200
        return .proceed
      }, answer: RetryFixture.answers([503]))
    #expect(try fixture.run().attempts == 1)
  }

  @Test func `a response that a stage made is not retried`() throws {
    let fixture = RetryFixture(
      Self.policy,
      request: StubStage(.request) {
        $0.responseForms.native = Response(status: 503)
        return .respond
      }, answer: RetryFixture.answers([]))
    #expect(try fixture.run().attempts == 1)
    #expect(fixture.transport.issued.isEmpty)
  }

  @Test func `a stage's retry beyond the deadline fails the transaction at once, and the error names the stage`()
    throws
  {
    let fixture = RetryFixture(
      RetryPolicy(), deadline: .seconds(5), response: StubStage(.response) { _ in .retry(after: .seconds(5)) },
      answer: RetryFixture.answers([503]))
    let result = try #require(try fixture.begin().result)
    #expect(result.error?.code == "deadline")
    #expect(result.error?.stage == "stage")
    #expect(result.response?.status == 503)
  }

  @Test func `by default, only a request on a kept connection that has died is retried, and without a wait`() throws {
    let resent = TransportError(.resent, "again")
    let fixture = RetryFixture(RetryPolicy()) { number, _ in
      number == 0 ? .failure(resent) : .response(Response(status: 200))
    }
    let outcome = try fixture.begin()
    fixture.loop.advance(by: .zero)
    #expect(outcome.result?.attempts == 2)
    #expect(outcome.result?.error == nil)
    #expect(fixture.transport.options.map(\.wantsFreshConnection) == [false, true])
    #expect(try RetryFixture(RetryPolicy()) { _, _ in .failure(resent) }.run("POST").attempts == 1)
    #expect(try RetryFixture(RetryPolicy()) { _, _ in .failure(Self.lost) }.run().attempts == 1)
    #expect(try RetryFixture(RetryPolicy(), answer: RetryFixture.answers([503])).run().attempts == 1)
  }

  @Test func `a retry after a dead connection does not use the budget, and is made only once for each request`() throws
  {
    let fixture = RetryFixture(RetryPolicy(budget: 0)) { number, _ in
      number % 2 == 0 ? .failure(TransportError(.resent, "again")) : .response(Response(status: 200))
    }
    for _ in 0..<100 { #expect(try fixture.run().error == nil) }
    let dead = RetryFixture(
      RetryPolicy(backoff: Backoff(base: .zero, maximum: .zero), budget: 0), attempts: 5
    ) { _, _ in .failure(TransportError(.resent, "again")) }
    for _ in 0..<20 {
      let outcome = try dead.begin()
      while outcome.result == nil { dead.loop.advance(by: .zero) }
    }
    // Each of the twenty requests is sent twice, and the budget of a new loop allows ten more retries.
    #expect(dead.transport.issued.count == 50)
  }

  @Test(arguments: ["GET", "POST"])
  func `a request that was not processed is sent again, whatever the method and the policy`(_ method: String) throws {
    var stages = 0
    let fixture = RetryFixture(
      RetryPolicy(connectionErrors: .never, budget: 0), attempts: 1,
      request: StubStage(.request) { _ in
        stages += 1
        return .proceed
      }
    ) { number, _ in
      number < 3
        ? .failure(TransportError(.notProcessed, "refused", isBeforeSending: true)) : .response(Response(status: 200))
    }
    let result = try fixture.run(method, body: .text("pay"))
    #expect(result.error == nil && result.attempts == 1)
    #expect(stages == 1)
    #expect(fixture.transport.issued.map(\.body.bytes) == Array(repeating: Array("pay".utf8), count: 4))
    #expect(fixture.log.entries.map(\.code) == ["not_processed", "not_processed", "not_processed"])
    #expect(fixture.log.entries.allSatisfy { $0.delay == .zero })
  }

  @Test func `a request that is always refused fails after eleven times, and the error says so`() throws {
    let fixture = RetryFixture(Self.policy) { _, _ in
      .failure(TransportError(.notProcessed, "refused", isBeforeSending: true))
    }
    let outcome = try fixture.begin()
    fixture.loop.advance(by: .seconds(1))
    let result = try #require(outcome.result)
    #expect(result.error?.code == "not_processed" && result.attempts == 1)
    #expect(result.error?.message == "refused; the request was sent 11 times, and never processed")
    #expect(fixture.transport.issued.count == 11)
  }

  @Test(arguments: [(Duration.milliseconds(25), ErrorCode.timeout), (.seconds(60), .deadline)])
  func `time limits cover all sendings of a refused request, and their errors count the refusals`(
    _ timeout: Duration, _ code: ErrorCode
  ) throws {
    let fixture = RetryFixture(RetryPolicy(), deadline: .milliseconds(60), attemptTimeout: timeout) { _, _ in
      .failure(TransportError(.notProcessed, "refused", isBeforeSending: true))
    }
    let outcome = try fixture.begin()
    for _ in 0..<70 { fixture.loop.advance(by: .milliseconds(1)) }
    let result = try #require(outcome.result)
    #expect(result.error?.code == code, "\(String(describing: result.error))")
    // The pauses are 0 ms five times, then 10, 20 and 40 ms.
    let count = code == .timeout ? 7 : 8
    #expect(
      result.error?.message.hasSuffix("; the server has refused the request \(count) times without processing it")
        == true,
      "\(String(describing: result.error))")
    #expect(fixture.transport.issued.count == count)
  }

  @Test func `a body that can be produced only once is not sent again`() throws {
    let fixture = RetryFixture(RetryPolicy()) { _, _ in
      .failure(TransportError(.notProcessed, "refused", isBeforeSending: true))
    }
    let body = Body.stream(BodyStream { _ in nil })
    #expect(try fixture.run("POST", body: body).error?.code == "not_processed")
    #expect(fixture.transport.issued.count == 1)
  }

  @Test func `each attempt starts from the original request, and stages see the number of the attempt`() throws {
    let fixture = RetryFixture(
      Self.policy,
      request: StubStage(.request) {
        $0.requestForms.native.headers.append("x-attempt", "\($0.attempt)")
        return .proceed
      }, answer: RetryFixture.answers([503, 503]))
    #expect(try fixture.run().attempts == 3)
    #expect(fixture.transport.issued.map { $0.headers[values: "x-attempt"] } == [["0"], ["1"], ["2"]])
  }

  @Test func `a wait can be longer than the time limit of an attempt`() throws {
    let fixture = RetryFixture(Self.policy, answer: RetryFixture.answers([503], headers: ["Retry-After": "45"]))
    let outcome = try fixture.begin()
    fixture.loop.advance(by: .milliseconds(44_999))
    #expect(outcome.result == nil)
    fixture.loop.advance(by: .milliseconds(1))
    #expect(outcome.result?.attempts == 2)
    #expect(outcome.result?.error == nil)
  }

  @Test func `a cancellation during the wait for the next attempt ends the transaction at once`() throws {
    let fixture = RetryFixture(Self.policy, answer: RetryFixture.answers([503], headers: ["Retry-After": "45"]))
    var results: [TransactionResult] = []
    let request = Request(url: HTTPURL("http://example.com/a"))
    var transaction: Transaction?
    fixture.loop.perform {
      transaction = Transaction.begin(request, on: fixture.environment, through: fixture.pipeline) {
        results.append($0)
      }
    }
    #expect(fixture.log.entries.count == 1)
    fixture.loop.perform { transaction?.cancel() }
    #expect(results.map(\.outcome) == [.cancelled])
    fixture.loop.advance(by: .seconds(100))
    #expect(results.count == 1)
    #expect(fixture.transport.issued.count == 1)
  }

  @Test func `the policy decides about the status even if a stage wants the body`() throws {
    let fixture = RetryFixture(
      Self.policy, response: StubStage([.response, .wantsResponseBody]) { _ in .proceed },
      answer: RetryFixture.answers([503, 503]))
    let result = try fixture.run()
    #expect(result.attempts == 3)
    #expect(result.response?.body.bytes == Array("2".utf8))
  }

  @Test func `if all requests fail, the budget limits the retries, and the error says that it refused one`() throws {
    var policy = Self.policy
    policy.backoff = Backoff(base: .zero, maximum: .zero)
    let fixture = RetryFixture(policy, answer: RetryFixture.answers(Array(repeating: 503, count: 5000)))
    var refused = 0
    for _ in 0..<1000 {
      let outcome = try fixture.begin()
      while outcome.result == nil { fixture.loop.advance(by: .zero) }
      if outcome.result?.error?.message.hasSuffix("recently (retry.budget)") == true { refused += 1 }
    }
    let snapshot = try #require(fixture.pipeline.metrics.first).snapshot()
    #expect(fixture.transport.issued.count <= 1000 + 200 + 10)
    #expect(fixture.transport.issued.count >= 1000 + 200)
    #expect(snapshot.retries == UInt64(fixture.transport.issued.count - 1000))
    #expect(snapshot.retriesOverBudget == UInt64(refused))
    #expect(refused >= 790)
  }
}
