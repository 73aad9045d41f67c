import SluiceLedger
import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// Hops that the transport begins by itself, as libcurl does in a program under `sluice attach`.
@Suite struct ContinuationTests {
  /// A transport with one transfer, whose events the test reports. Confined to the stub loop.
  private final class MovingTransport: Transport {
    final class Moving: Transfer {
      func cancel() {}
      func proceed(_ disposition: BodyDisposition) {}
      func resumeReceiving() {}
      func resumeSending() {}
    }

    var request: Request?
    var observer: (any TransferObserver)?

    func start(_ request: consuming Request, _ options: TransferOptions, observer: any TransferObserver)
      -> any Transfer
    {
      self.request = request
      self.observer = observer
      return Moving()
    }

    func makeBodyGatherer(_ options: TransferOptions) -> any BodyGatherer {
      fatalError("no stage wants a body")
    }

    func stream(of file: FileBody) throws(TransportError) -> BodyStream {
      throw TransportError(.bodyFile, "files are not read")
    }
  }

  /// Confined to the stub loop.
  private final class Ledger: Tracer, @unchecked Sendable {
    var entries: [LedgerEntry] = []

    func record(_ event: TraceEvent) { entries.append(LedgerEntry(event)) }

    /// Throws the first broken rule.
    func check() throws {
      var checker = LedgerChecker()
      for entry in entries { try checker.check(entry) }
      try checker.finish()
    }
  }

  /// A stage that records the hops for which it is called. Confined to the stub loop.
  private final class Marker: Interceptor, @unchecked Sendable {
    let capabilities: StageCapabilities = [.issue]
    var hops: [Int] = []

    func interceptIssue(_ exchange: Exchange) -> Verdict {
      hops.append(exchange.hop)
      return .proceed
    }
  }

  private let loop = StubLoop()
  private let transport = MovingTransport()
  private let ledger = Ledger()
  private let marker = Marker()

  /// Runs a transaction. The closure `move` reports the events of its transfer.
  private func run(
    _ request: Request, _ move: (any TransferObserver) throws -> Void
  ) throws -> TransactionResult {
    let pipeline = Pipeline(
      issueStages: [StageBinding(name: "marker", interceptor: marker)],
      tracers: [TracerBinding(name: "ledger", tracer: ledger)])
    let environment = LoopEnvironment(loop: loop, transport: transport)
    var result: TransactionResult?
    loop.perform { Transaction.begin(request, on: environment, through: pipeline) { result = $0 } }
    let observer = try #require(transport.observer)
    var failure: (any Error)?
    loop.perform {
      do { try move(observer) } catch { failure = error }
    }
    if let failure { throw failure }
    loop.run { result != nil }
    return try #require(result)
  }

  private func issue(_ observer: any TransferObserver) {
    var headers = HeaderFields()
    #expect(observer.transferWillIssue(&headers))
    loop.spend(.milliseconds(5))
  }

  private func end(_ observer: any TransferObserver, status: Int = 200) {
    _ = observer.transferDidReceiveHead(Response(status: status))
    observer.transferDidEnd(TransferEnd())
  }

  private func timings(wait: Duration) -> TransferTimings {
    var timings = TransferTimings()
    timings.wait = wait
    timings.bytesSent = 10
    return timings
  }

  @Test func `if the transport follows a redirect, a hop ends and the next hop begins`() throws {
    let request = Request(method: "POST", url: HTTPURL("http://a.example/1"), body: .text("b"))
    let result = try run(request) { observer in
      issue(observer)
      let next = Request(url: HTTPURL("http://b.example/2"))
      observer.transferDidContinue(
        after: Response(status: 302, headers: ["Location": "http://b.example/2"]), with: next,
        timings(wait: .milliseconds(5)))
      issue(observer)
      end(observer)
    }
    #expect(result.response?.status == 200)
    #expect(result.attempts == 1)
    #expect(marker.hops == [0, 1])
    #expect(
      ledger.entries.map(\.kind) == [
        .willExecute, .didConfigure, .didIssue, .didReceive, .willRedirect, .didEndHop, .didIssue, .didReceive,
        .didEndHop, .didValidateResponse, .didExtract, .didValidatePayload, .didComplete,
      ])
    #expect(ledger.entries.map(\.hop) == [0, 0, 0, 0, 0, 0] + Array(repeating: 1, count: 7))
    #expect(ledger.entries[2].url == "http://a.example/1" && ledger.entries[2].method == "POST")
    #expect(ledger.entries[6].url == "http://b.example/2" && ledger.entries[6].method == "GET")
    #expect(ledger.entries[5].timings?.bytesSent == 10)
    #expect(ledger.entries.last?.timings?.bytesSent == 0)
    try ledger.check()
  }

  @Test func `if the program answers a challenge, the next hop has the same URL`() throws {
    let request = Request(url: HTTPURL("http://a.example/1"))
    let result = try run(request) { observer in
      issue(observer)
      observer.transferDidContinue(
        after: Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=x"]), with: request,
        timings(wait: .milliseconds(5)))
      issue(observer)
      end(observer)
    }
    #expect(result.response?.status == 200)
    #expect(ledger.entries.filter { $0.kind == .didReceive }.map(\.status) == [401, 200])
    #expect(ledger.entries.filter { $0.kind == .didIssue }.map(\.hop) == [0, 1])
    try ledger.check()
  }

  @Test func `if a request is sent again without a response, its hop ends with not_processed and the next hop begins`()
    throws
  {
    let request = Request(url: HTTPURL("http://a.example/1"))
    let result = try run(request) { observer in
      issue(observer)
      observer.transferDidContinue(after: nil, with: request, TransferTimings())
      issue(observer)
      end(observer)
    }
    #expect(result.response?.status == 200)
    #expect(marker.hops.count == 2)
    #expect(ledger.entries.filter { $0.kind == .didEndHop }.map(\.errorCode) == [.notProcessed, nil])
    try ledger.check()
  }

  @Test func `the events of many hops and a failure at the end keep the ledger's rules`() throws {
    let request = Request(url: HTTPURL("http://a.example/0"))
    let result = try run(request) { observer in
      issue(observer)
      for number in 1...30 {
        let next = try Request(url: HTTPURL("http://a.example/\(number)"))
        observer.transferDidContinue(after: Response(status: 307), with: next, timings(wait: .milliseconds(1)))
        issue(observer)
      }
      observer.transferDidEnd(TransferEnd(error: TransportError(.connectionLost, "gone")))
    }
    #expect(result.error?.code == .connectionLost)
    #expect(marker.hops == Array(0...30))
    #expect(ledger.entries.filter { $0.kind == .willRedirect }.count == 30)
    try ledger.check()
  }

  @Test func `a continuation after a cancellation or before the first hop has no effect`() throws {
    let request = Request(url: HTTPURL("http://a.example/1"))
    _ = try run(request) { observer in
      observer.transferDidContinue(after: Response(status: 302), with: request, TransferTimings())
      issue(observer)
      end(observer)
      observer.transferDidContinue(after: Response(status: 302), with: request, TransferTimings())
    }
    #expect(ledger.entries.filter { $0.kind == .didIssue }.map(\.hop) == [0])
    try ledger.check()
  }
}
