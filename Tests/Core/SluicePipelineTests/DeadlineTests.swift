import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// The timer of an ended transaction is still armed, and the next transaction uses it.
@Suite struct DeadlineTests {
  private static func fixture() -> RetryFixture {
    RetryFixture(RetryPolicy(), attempts: 1, deadline: .seconds(10)) { number, _ in
      number == 0 ? .response(Response(status: 200)) : .silence
    }
  }

  @Test func `a deadline counts from the beginning of its own transaction`() throws {
    let fixture = Self.fixture()
    #expect(try fixture.begin().result?.error == nil)
    fixture.loop.advance(by: .seconds(5))
    let second = try fixture.begin()
    // During this time, the deadline of the first transaction passes.
    fixture.loop.advance(by: .seconds(9))
    #expect(second.result == nil)
    fixture.loop.advance(by: .seconds(1))
    #expect(second.result?.error?.code == "deadline")
  }

  @Test func `a deadline that is earlier than the previous transaction's is met too`() throws {
    let fixture = Self.fixture()
    #expect(try fixture.begin().result?.error == nil)
    let second = RetryOutcome()
    let request = Request(url: HTTPURL("http://example.com/a"), timeout: .seconds(2))
    fixture.loop.perform {
      Transaction.begin(request, on: fixture.environment, through: fixture.pipeline) { second.result = $0 }
    }
    fixture.loop.advance(by: .seconds(2))
    #expect(second.result?.error?.code == "deadline")
  }

  @Test func `a deadline that passes after the end of its transaction has no effect`() throws {
    let fixture = Self.fixture()
    let first = try fixture.begin()
    #expect(first.result?.error == nil)
    fixture.loop.advance(by: .seconds(60))
    #expect(first.result?.attempts == 1)
  }
}
