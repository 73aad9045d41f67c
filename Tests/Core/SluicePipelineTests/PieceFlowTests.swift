import SluiceMessages
import SluicePipeline
import SluiceTestPipeline
import Testing

/// Tests when a paused response body continues, and which time limits apply to it. The test moves the clock of the
/// loop.
@Suite struct PieceFlowTests {
  /// A transaction whose response has the pieces `a` and `b`. Its stage suspends on the first piece.
  private final class Fixture {
    let loop = StubLoop()
    let environment: LoopEnvironment
    let stage: SuspendingStage
    let sink = PausingSink()
    let pipeline: Pipeline
    private var transaction: Transaction?
    private(set) var result: TransactionResult?

    init(
      suspendsHead: Bool = false, deadline: Duration? = nil, onFault: FaultPolicy = .fail, stalls: Bool = false,
      settings: PipelineSettings = PipelineSettings()
    ) {
      let transport = StubTransport(loop: loop) { _ in
        stalls
          ? .stalled(Response(status: 200))
          : .response(Response(status: 200), pieces: [Array("a".utf8), Array("b".utf8)])
      }
      environment = LoopEnvironment(loop: loop, transport: transport)
      stage = SuspendingStage(suspendsHead: suspendsHead)
      pipeline = Pipeline(
        responseStages: [StageBinding(name: "stage", interceptor: stage, deadline: deadline, onFault: onFault)],
        settings: settings)
    }

    func begin(withSink: Bool = false) throws {
      let request = Request(url: HTTPURL("http://example.com/a"))
      loop.perform {
        transaction = Transaction.begin(
          request, on: environment, through: pipeline, sink: withSink ? sink : nil
        ) { self.result = $0 }
      }
    }

    func resumeStage() throws {
      let token = try #require(self.stage.token)
      var answer: ResumeAnswer?
      loop.perform { answer = environment.suspensions.resume(token, .proceed) }
      #expect(answer == .accepted)
    }

    func resumeSink() { loop.perform { transaction?.resumeReceiving() } }

    var text: String? { result?.response?.body.bytes.map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test func `a sink that continues does not resume a body that a stage has suspended`() throws {
    let fixture = Fixture()
    try fixture.begin(withSink: true)
    #expect(fixture.sink.pieces == ["A"])
    fixture.resumeSink()
    #expect(fixture.sink.pieces == ["A"])
    try fixture.resumeStage()
    #expect(fixture.sink.pieces == ["A", "b"])
    #expect(try #require(fixture.result).error == nil)
  }

  @Test func `a stage that continues does not resume a body that the sink has paused`() throws {
    let fixture = Fixture()
    fixture.sink.pausesOn = "A"
    try fixture.begin(withSink: true)
    try fixture.resumeStage()
    #expect(fixture.sink.pieces == ["A"])
    fixture.resumeSink()
    #expect(fixture.sink.pieces == ["A", "b"])
    #expect(try #require(fixture.result).error == nil)
  }

  @Test func `if a sink stops, the transaction is cancelled, and if a sink fails, its error is the result`() throws {
    for failure in [nil, TransactionError(code: .sink, message: "the disk is full")] {
      let fixture = Fixture()
      fixture.sink.stopsOn = "A"
      fixture.sink.failure = failure
      try fixture.begin(withSink: true)
      let result = try #require(fixture.result)
      #expect(result.error?.code == failure?.code ?? "cancelled")
      #expect(result.error?.message == failure?.message ?? "the receiver of the body has stopped it")
      #expect(result.outcome == (failure == nil ? .cancelled : .failed))
      #expect(fixture.sink.pieces == ["A"])
    }
  }

  @Test func `if a stage is skipped, the body continues, including the piece that the stage held back`() throws {
    let fixture = Fixture(deadline: .seconds(1), onFault: .skip)
    fixture.stage.output = ""
    try fixture.begin()
    fixture.loop.advance(by: .seconds(1))
    let result = try #require(fixture.result)
    #expect(result.error == nil)
    #expect(fixture.text == "ab")
    #expect(fixture.stage.cancelledCount == 1)
    #expect(fixture.pipeline.metrics[0].snapshot().unhealthy == 1)
  }

  @Test func `a stage that suspends a body for too long fails the transaction unless it is skipped`() throws {
    let fixture = Fixture(deadline: .seconds(1))
    try fixture.begin()
    fixture.loop.advance(by: .seconds(1))
    #expect(fixture.result?.error?.code == "stage_timeout")
    #expect(fixture.result?.error?.stage == "stage")
    #expect(fixture.stage.cancelledCount == 1)
  }

  @Test func `a time limit applies to the body even if the attempt's time passed while a stage held the head`() throws {
    let fixture = Fixture(
      suspendsHead: true, stalls: true, settings: PipelineSettings(deadline: nil, attemptTimeout: .seconds(1)))
    try fixture.begin()
    fixture.loop.advance(by: .seconds(2))
    #expect(fixture.result == nil)
    try fixture.resumeStage()
    fixture.loop.advance(by: .milliseconds(900))
    #expect(fixture.result == nil)
    fixture.loop.advance(by: .milliseconds(100))
    #expect(fixture.result?.error?.code == "timeout")
  }

  @Test func `the time for which a stage or the sink delays a body does not count towards the attempt's time limit`()
    throws
  {
    let fixture = Fixture(settings: PipelineSettings(deadline: nil, attemptTimeout: .seconds(1)))
    fixture.sink.pausesOn = "b"
    try fixture.begin(withSink: true)
    fixture.loop.advance(by: .seconds(10))
    try fixture.resumeStage()
    fixture.loop.advance(by: .seconds(10))
    #expect(fixture.sink.pieces == ["A", "b"])
    #expect(fixture.result == nil)
    fixture.resumeSink()
    #expect(try #require(fixture.result).error == nil)
  }

  @Test func `the time before and after a pause counts towards the attempt's time limit`() throws {
    let fixture = Fixture(stalls: true, settings: PipelineSettings(deadline: nil, attemptTimeout: .seconds(1)))
    try fixture.begin(withSink: true)
    fixture.loop.advance(by: .milliseconds(999))
    #expect(fixture.result == nil)
    fixture.loop.advance(by: .milliseconds(1))
    #expect(fixture.result?.error?.code == "timeout")
  }

  @Test func `a time limit applies on the wire even if the attempt's time passed while a stage held the request`()
    throws
  {
    let token = TokenSlot()
    let stage = StubStage([.request]) { exchange in
      token.value = exchange.suspend()
      return .suspended
    }
    let fixture = RetryFixture(RetryPolicy(), attempts: 1, deadline: nil, request: stage) { _, _ in .silence }
    let outcome = try fixture.begin()
    // The attempt's default time limit is 30 s.
    fixture.loop.advance(by: .seconds(40))
    let taken = try #require(token.value)
    fixture.loop.perform { _ = fixture.environment.suspensions.resume(taken, .proceed) }
    fixture.loop.advance(by: .seconds(29))
    #expect(outcome.result == nil)
    fixture.loop.advance(by: .seconds(1))
    #expect(outcome.result?.error?.code == "timeout")
  }
}

private final class TokenSlot {
  var value: SuspensionToken?
}

/// A stage that suspends on the piece `a`, which it then replaces by ``output``. It can also suspend on the head. The
/// tests use it on one thread.
private final class SuspendingStage: Interceptor, @unchecked Sendable {
  let capabilities: StageCapabilities
  var output = "A"
  private(set) var token: SuspensionToken?
  private(set) var cancelledCount = 0

  init(suspendsHead: Bool) {
    capabilities = suspendsHead ? [.response, .responsePieces] : .responsePieces
  }

  func interceptResponse(_ exchange: Exchange) -> Verdict {
    token = exchange.suspend()
    return .suspended
  }

  func interceptPiece(
    _ exchange: Exchange, _ side: MessageSide, _ piece: [UInt8], _ output: inout [UInt8]
  ) -> PieceVerdict {
    guard piece == Array("a".utf8) else { return .pass }
    token = exchange.suspend()
    output = Array(self.output.utf8)
    return .suspended
  }

  func suspensionWasCancelled(_ token: SuspensionToken) { cancelledCount += 1 }
}

/// A sink that pauses or stops at given pieces. The tests use it on one thread.
private final class PausingSink: BodySink, @unchecked Sendable {
  var pausesOn: String?
  var stopsOn: String?
  var failure: TransactionError?
  private(set) var pieces: [String] = []

  func begin(_ head: Response) {}

  func receive(_ piece: [UInt8]) -> BodyProgress {
    let text = String(decoding: piece, as: UTF8.self)
    pieces.append(text)
    return text == stopsOn ? .stop : text == pausesOn ? .pause : .proceed
  }
}
