import OTLPRules
import SluiceMessages
import Testing

/// The queue of spans, the retries of a failed export, and the state of transactions.
@Suite struct QueueTests {
  private static func span(_ name: String, trace: String = "t") -> ExportedSpan {
    ExportedSpan(traceID: trace, spanID: "s", name: name, kind: .client, start: 1, end: 2)
  }

  @Test func `the queue returns spans in order, and drops and counts those that do not fit`() {
    var queue = SpanQueue(capacity: 3)
    #expect((0..<5).map { queue.append(Self.span("\($0)")) } == [true, true, true, false, false])
    #expect(queue.count == 3 && queue.drops == 2)
    #expect(queue.take(2).map(\.name) == ["0", "1"])
    #expect(queue.append(Self.span("5")) && queue.append(Self.span("6")) && !queue.append(Self.span("7")))
    #expect(queue.take(10).map(\.name) == ["2", "5", "6"])
    #expect(queue.isEmpty && queue.take(1).isEmpty)
    #expect(queue.takeDrops() == 3 && queue.takeDrops() == 0 && queue.drops == 3)
  }

  private let schedule = RetrySchedule(initial: .seconds(1), maximum: .seconds(5), total: .seconds(60))

  @Test func `a retry waits between half of its delay and all of it, and the delay doubles up to a maximum`() {
    func delays(_ random: Double) -> [Duration?] {
      (1...5).map { schedule.delay(afterFailures: $0, elapsed: .zero, retryAfter: nil, random: random) }
    }
    #expect(delays(1) == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
    #expect(delays(0) == [.milliseconds(500), .seconds(1), .seconds(2), .milliseconds(2500), .milliseconds(2500)])
  }

  @Test func `a collector's Retry-After is not shortened, and the total time is respected`() {
    func delay(_ elapsed: Duration, _ retryAfter: Duration?) -> Duration? {
      schedule.delay(afterFailures: 1, elapsed: elapsed, retryAfter: retryAfter, random: 0)
    }
    #expect(delay(.zero, .seconds(30)) == .seconds(30))
    #expect(delay(.seconds(31), .seconds(30)) == nil)
    #expect(delay(.seconds(60), nil) == nil)
    #expect(delay(.seconds(59), nil) == .milliseconds(500))
  }

  @Test func `Retry-After is a number of seconds or a date`() {
    #expect(RetrySchedule.retryAfter("7", now: 0) == .seconds(7))
    #expect(RetrySchedule.retryAfter("99999999999999999999", now: 0) == .seconds(366 * 86_400))
    #expect(RetrySchedule.retryAfter("Thu, 01 Jan 1970 00:01:40 GMT", now: 40) == .seconds(60))
    #expect(RetrySchedule.retryAfter("Thu, 01 Jan 1970 00:00:00 GMT", now: 40) == .zero)
    for text in ["", "-1", "soon", "1.5"] { #expect(RetrySchedule.retryAfter(text, now: 0) == nil) }
  }

  @Test func `an export is retried only after 429, 502, 503 and 504`() {
    #expect((100...599).filter { RetrySchedule.isRetryable(status: $0) } == [429, 502, 503, 504])
  }

  private typealias Book = SpanBook<Int>
  private let unknown = Book.Place(traceID: nil, isSampled: false)
  private let sampled = Book.Place(traceID: "t", isSampled: true)
  private let unsampled = Book.Place(traceID: "t", isSampled: false)

  @Test func `hops are counted for each transaction`() {
    var book = Book()
    #expect((0..<3).map { _ in book.endHop(of: 1, sampled).resendCount } == [0, 1, 2])
    #expect(book.endHop(of: 2, unknown).resendCount == 0)
    _ = book.end(1, sampled)
    #expect(book.count == 1)
    #expect(book.endHop(of: 1, sampled).resendCount == 0)
  }

  @Test func `a span whose trace is known is exported only if the trace is sampled`() {
    var book = Book()
    #expect(book.endSpan(Self.span("a"), of: 1, sampled)?.name == "a")
    #expect(book.endSpan(Self.span("a"), of: 1, unsampled) == nil)
    #expect(book.end(1, unsampled).isEmpty && book.count == 0)
  }

  @Test func `a span before the first hop waits for the hop's trace`() {
    var book = Book()
    #expect(book.endSpan(Self.span("a", trace: "guess"), of: 1, unknown) == nil)
    #expect(book.endHop(of: 1, sampled).released.map(\.traceID) == ["t"])
    #expect(book.endSpan(Self.span("b"), of: 2, unknown) == nil)
    #expect(book.endHop(of: 2, unsampled).released.isEmpty)
    #expect(book.end(1, sampled).isEmpty && book.end(2, unsampled).isEmpty)
  }

  @Test func `the spans of a transaction without hops or without trace headers are exported`() {
    var book = Book()
    _ = book.endSpan(Self.span("a", trace: "own"), of: 1, unknown)
    #expect(book.end(1, unknown).map(\.traceID) == ["own"])
    _ = book.endSpan(Self.span("b", trace: "own"), of: 2, unknown)
    #expect(book.endHop(of: 2, unknown).released.map(\.traceID) == ["own"])
    _ = book.endSpan(Self.span("c"), of: 3, unknown)
    #expect(book.end(3, unsampled).isEmpty)
    #expect(book.end(2, unknown).isEmpty && book.count == 0)
  }
}
