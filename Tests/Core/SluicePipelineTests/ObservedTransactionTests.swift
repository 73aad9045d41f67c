import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// Transactions with a journal and a recording. The test moves the clock of the loop.
struct ObservedTransactionTests {
  private static func request(_ change: (inout Request) -> Void = { _ in }) throws -> Request {
    var request = Request(url: HTTPURL("http://example.com/a"))
    request.wantsJournal = true
    request.wantsRecording = true
    change(&request)
    return request
  }

  @Test func `journal and recording do not retain the transaction after its end`() throws {
    let fixture = RetryFixture(RetryPolicy(), answer: RetryFixture.answers([200]))
    weak var transaction: Transaction?
    var result: TransactionResult?
    let request = try Self.request()
    fixture.loop.perform {
      transaction = Transaction.begin(request, on: fixture.environment, through: fixture.pipeline) { result = $0 }
    }
    #expect(result?.recording?.hops.map { $0.response?.status } == [200])
    #expect(result?.journal == [])
    #expect(transaction == nil)
  }

  @Test func `a suspended call that ends with its attempt is recorded as suspended`() throws {
    let stage = StubStage([.request, .failure]) { exchange in
      guard exchange.phase == .request else { return .proceed }
      return exchange.suspend() == nil ? .proceed : .suspended
    }
    let fixture = RetryFixture(
      RetryPolicy(), attempts: 1, request: stage, response: stage, answer: RetryFixture.answers([]))
    var result: TransactionResult?
    let request = try Self.request()
    fixture.loop.perform {
      Transaction.begin(request, on: fixture.environment, through: fixture.pipeline) { result = $0 }
    }
    for _ in 0..<100 where result == nil { fixture.loop.advance(by: .seconds(1)) }
    let calls = try #require(result?.journal)
    #expect(calls.first?.verdict == .suspended && calls.first?.wasSuspended == true)
    #expect(result?.recording?.hops.isEmpty == true)
  }

  @Test func `a recording says which body was not read to its end`() throws {
    let fixture = RetryFixture(RetryPolicy(), answer: RetryFixture.answers([200]))
    var result: TransactionResult?
    let request = try Self.request { $0.body = .stream(BodyStream { _ in Array("never read here".utf8) }) }
    fixture.loop.perform {
      Transaction.begin(request, on: fixture.environment, through: fixture.pipeline) { result = $0 }
    }
    let recording = try #require(result?.recording)
    #expect(recording.isRequestStreamed && !recording.isRequestWhole)
  }
}
