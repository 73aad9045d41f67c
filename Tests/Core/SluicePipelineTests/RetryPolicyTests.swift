import SluiceMessages
import SluiceTestKit
import Testing

@testable import SluicePipeline

/// The parts of a retry policy, each tested separately.
@Suite struct RetryPolicyTests {
  @Test func `each wait is random up to a bound, and the bound doubles until it reaches the maximum`() {
    let backoff = Backoff(base: .milliseconds(100), maximum: .seconds(1))
    var random = SeededRandom(seed: 1)
    for (attempt, bound) in [100, 200, 400, 800, 1000, 1000].enumerated() {
      let waits = (0..<2000).map { _ in backoff.delay(after: attempt, using: &random) }
      let bound = Duration.milliseconds(bound)
      #expect(waits.allSatisfy { $0 >= .zero && $0 <= bound })
      // With full jitter, waits are spread over the whole range, not only near the bound.
      #expect((waits.min() ?? bound) < bound / 20)
      #expect((waits.max() ?? .zero) > bound * 0.95)
    }
    for attempt in [63, 64, 99] { #expect(backoff.delay(after: attempt, using: &random) <= .seconds(1)) }
    #expect(Backoff(base: .zero, maximum: .zero).delay(after: 3, using: &random) == .zero)
  }

  @Test func `the same seed gives the same waits`() {
    func waits(_ seed: UInt64) -> [Duration] {
      var random = RandomBits(seed: seed)
      return (0..<20).map { Backoff().delay(after: $0, using: &random) }
    }
    #expect(waits(7) == waits(7))
    #expect(waits(7) != waits(8))
  }

  @Test(
    arguments: [
      ("0", 0), ("7", 7), ("Sun, 06 Nov 1994 08:49:47 GMT", 10), ("Sunday, 06-Nov-94 08:49:47 GMT", 10),
      ("Sun Nov  6 08:49:47 1994", 10), ("Sun, 06 Nov 1994 08:49:27 GMT", 0), ("99999999999999999999", 3_153_600_000),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 3_153_600_000),
    ] as [(String, Int)])
  func `Retry-After is seconds or a date`(text: String, seconds: Int) {
    #expect(RetryAfter.delay(["Retry-After": text], wallClock: .seconds(784_111_777)) == .seconds(seconds))
  }

  @Test(arguments: ["", "soon", "-1", "1.5", "+7", "7 s", "٧", "Sun, 06 Nov 1994"])
  func `any other value of Retry-After is ignored`(text: String) {
    #expect(RetryAfter.delay(["Retry-After": text], wallClock: .seconds(784_111_777)) == nil)
  }

  @Test func `the delay until a date is exact to the milliseconds of the wall clock`() {
    let headers: HeaderFields = ["retry-after": "Sun, 06 Nov 1994 08:49:38 GMT"]
    #expect(RetryAfter.delay(headers, wallClock: .milliseconds(784_111_777_250)) == .milliseconds(750))
  }

  @Test func `only failures of the connection are retried, not failures that a stage reports`() {
    func wanted(_ errors: RetryPolicy.ConnectionErrors) -> [ErrorCode] {
      let policy = RetryPolicy(connectionErrors: errors)
      return [
        "dns", "connect", "connect_timeout", "connection_lost", "timeout", "resent", "tls", "proxy", "decoding",
        "invalid_response", "request_too_large", "response_too_large", "cancelled", "body_file", "resources",
      ].filter { policy.wants(TransactionError(code: $0, message: "")) }
    }
    #expect(wanted(.always) == ["dns", "connect", "connect_timeout", "connection_lost", "timeout", "resent", "proxy"])
    #expect(wanted(.deadConnection) == ["resent"])
    #expect(wanted(.never) == [])
    // A proxy that was reached and refuses would refuse again.
    let details: [TransportError.Detail] = [.proxyName, .proxyTLS, .proxyCertificate, .tunnel, .socks]
    let repeated = details.filter {
      RetryPolicy(connectionErrors: .always).wants(TransactionError(TransportError(.proxy, "").with($0)))
    }
    #expect(repeated == [.proxyName])
    #expect(!RetryPolicy.standard.wants(TransactionError(code: "connect", message: "", stage: "auth")))
  }

  @Test func `a budget begins with ten retries, and gains retries with each transaction and each second`() {
    var budget = RetryBudget()
    var now = Instant(nanoseconds: 1_000_000_000)
    var transactions: UInt64 = 0
    func taken(_ tries: Int) -> Int {
      (0..<tries).reduce(0) { count, _ in
        count + (budget.take(ratio: 0.2, transactions: transactions, now: now) ? 1 : 0)
      }
    }
    #expect(taken(50) == 10)
    transactions = 100
    #expect(taken(50) == 20)
    now = now + .seconds(3)
    #expect(taken(50) == 3)
    now = now + .seconds(3600)
    #expect(taken(50) == 10)
    transactions = 1_000_000
    #expect(taken(500) == 100)
  }

  @Test func `without a share, only the ten retries are allowed`() {
    var budget = RetryBudget()
    let now = Instant(nanoseconds: 0)
    let taken = (1...1000).filter { budget.take(ratio: 0, transactions: UInt64($0), now: now) }
    #expect(taken.count == 10)
  }
}
