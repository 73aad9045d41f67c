import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline

/// Transactions without a wire, with a policy for retries. The test moves the clock of the loop.
final class RetryFixture {
  let loop = StubLoop()
  let transport: StubTransport
  let environment: LoopEnvironment
  let pipeline: Pipeline
  let log = RetryLog()

  /// - Parameter answer: returns the reply to a hop. It gets the hop's number, counted from 0, and the request.
  init(
    _ policy: RetryPolicy, attempts: Int = 3, deadline: Duration? = .seconds(60),
    attemptTimeout: Duration = .seconds(30), request: StubStage? = nil, response: StubStage? = nil,
    answer: @escaping (Int, Request) -> StubTransport.Reply
  ) {
    let counter = HopCounter()
    transport = StubTransport(loop: loop) { answer(counter.next(), $0) }
    environment = LoopEnvironment(loop: loop, transport: transport)
    pipeline = Pipeline(
      requestStages: [request].compactMap(\.self).map { StageBinding(name: "stage", interceptor: $0) },
      responseStages: [response].compactMap(\.self).map { StageBinding(name: "stage", interceptor: $0) },
      tracers: [TracerBinding(name: "log", tracer: log)],
      settings: PipelineSettings(
        deadline: deadline, attemptTimeout: attemptTimeout, maximumAttempts: attempts, retry: policy))
  }

  /// Begins a transaction and runs the loop as far as possible without moving the clock.
  func begin(_ method: String = "GET", body: Body = .empty) throws -> RetryOutcome {
    let outcome = RetryOutcome()
    let request = Request(method: method, url: HTTPURL("http://example.com/a"), body: body)
    loop.perform {
      Transaction.begin(request, on: environment, through: pipeline) { outcome.result = $0 }
    }
    return outcome
  }

  /// Runs a transaction to its end, and moves the clock whenever the transaction waits.
  func run(_ method: String = "GET", body: Body = .empty) throws -> TransactionResult {
    let outcome = try begin(method, body: body)
    for _ in 0..<100 where outcome.result == nil { loop.advance(by: .seconds(1)) }
    guard let result = outcome.result else { throw TestKitError("the transaction did not end") }
    return result
  }

  static func answers(_ statuses: [Int], headers: HeaderFields = [:]) -> (Int, Request) -> StubTransport.Reply {
    { number, _ in
      .response(
        Response(status: number < statuses.count ? statuses[number] : 200, headers: headers, body: .text("\(number)")))
    }
  }
}

final class RetryOutcome {
  var result: TransactionResult?
}

/// A tracer that collects the events about retries. The tests use it on one thread.
final class RetryLog: Tracer, @unchecked Sendable {
  struct Entry {
    let delay: Duration
    let status: Int
    let code: ErrorCode?
  }

  var entries: [Entry] = []
  let interests = TraceInterests(.willRetry)

  func record(_ event: TraceEvent) {
    entries.append(Entry(delay: event.duration, status: event.status, code: event.error?.code))
  }
}

private final class HopCounter {
  private var count = 0

  func next() -> Int {
    defer { count += 1 }
    return count
  }
}

/// A stage that consists of one closure. The tests use it on one thread.
final class StubStage: Interceptor, @unchecked Sendable {
  let capabilities: StageCapabilities
  private let function: (Exchange) -> Verdict

  init(_ capabilities: StageCapabilities, _ function: @escaping (Exchange) -> Verdict) {
    self.capabilities = capabilities
    self.function = function
  }

  func interceptRequest(_ exchange: Exchange) -> Verdict { function(exchange) }
  func interceptResponse(_ exchange: Exchange) -> Verdict { function(exchange) }
  func interceptFailure(_ exchange: Exchange, _ failure: TransactionError) -> Verdict { function(exchange) }
}
