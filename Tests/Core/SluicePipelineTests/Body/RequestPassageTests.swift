import SluiceMessages
import SluicePipeline
import SluiceTestKit
import SluiceTestPipeline
import Testing

/// Request bodies that pass through stages to the wire. The test moves the clock of the loop.
@Suite struct RequestPassageTests {
  private final class Fixture {
    let loop = StubLoop()
    let transport: StubTransport
    let environment: LoopEnvironment
    let stage: HoldingStage
    private let pipeline: Pipeline
    private(set) var result: TransactionResult?

    init(_ held: Set<String> = [], onFault: FaultPolicy = .fail, deadline: Duration? = nil) {
      transport = StubTransport(loop: loop, readsBodies: true)
      environment = LoopEnvironment(loop: loop, transport: transport)
      stage = HoldingStage(held)
      pipeline = Pipeline(
        requestStages: [StageBinding(name: "stage", interceptor: stage, deadline: deadline, onFault: onFault)],
        settings: PipelineSettings(deadline: nil, attemptTimeout: .seconds(1), maximumAttempts: 1))
    }

    func begin(_ body: Body) throws {
      let request = Request(method: "PUT", url: HTTPURL("http://example.com/a"), body: body)
      loop.perform {
        _ = Transaction.begin(request, on: environment, through: pipeline) { self.result = $0 }
      }
    }

    func resume() {
      guard let token = stage.token else { return }
      loop.perform { _ = environment.suspensions.resume(token, .proceed) }
    }

    var sent: String? { transport.issued.first?.body.bytes.map { String(decoding: $0, as: UTF8.self) } }
  }

  @Test func `while a stage is suspended on a piece of a request, the later pieces wait`() throws {
    let fixture = Fixture(["b"])
    try fixture.begin(.stream(PieceStream.make([Array("a".utf8), [], Array("b".utf8), Array("c".utf8)])))
    #expect(fixture.result == nil)
    #expect(fixture.stage.pieces == ["a", "b"])
    // This is longer than the server's time limit, which does not apply while a stage is suspended.
    fixture.loop.advance(by: .seconds(10))
    #expect(fixture.result == nil)
    fixture.resume()
    #expect(fixture.result?.error == nil)
    #expect(fixture.sent == "aBc")
    #expect(fixture.stage.endCount == 1)
  }

  @Test func `while a stage is suspended at the end of a request, the transaction waits`() throws {
    let fixture = Fixture(["end"])
    try fixture.begin(.text("a"))
    #expect(fixture.result == nil)
    fixture.resume()
    #expect(fixture.result?.error == nil)
    #expect(fixture.sent == "a")
  }

  @Test func `a stage that suspends a request body for too long fails the transaction, or is skipped`() throws {
    for onFault in FaultPolicy.allCases {
      let fixture = Fixture(["b"], onFault: onFault, deadline: .seconds(2))
      try fixture.begin(.text("b"))
      fixture.loop.advance(by: .seconds(2))
      #expect(fixture.stage.cancelledCount == 1)
      #expect(fixture.result?.error?.code == (onFault == .fail ? "stage_timeout" : nil))
      // The bytes that the stage wrote when it suspended have been sent.
      #expect(onFault == .fail || fixture.sent == "B")
    }
  }

  @Test func `a producer without a piece is not asked again before it wakes its reader`() throws {
    let fixture = Fixture()
    let asked = Watched(0)
    let pieces = Watched<[[UInt8]?]>([[], Array("late".utf8), nil])
    let stream = BodyStream { _ in
      asked.update { $0 += 1 }
      return pieces.update { $0.removeFirst() }
    }
    try fixture.begin(.stream(stream))
    fixture.loop.advance(by: .seconds(10))
    #expect(asked.value == 1)
    fixture.loop.perform { stream.wake() }
    #expect(asked.value == 3)
    #expect(fixture.result?.error == nil)
    #expect(fixture.sent == "late")
  }

  @Test func `if a transaction ends while a stage is suspended on a piece, the call is cancelled and all is released`()
    throws
  {
    let fixture = Fixture(["b"])
    try fixture.begin(.text("b"))
    fixture.loop.perform {
      fixture.environment.abortAll(TransactionError(code: "shutdown", message: ""))
    }
    #expect(fixture.result?.error?.code == "shutdown")
    #expect(fixture.stage.cancelledCount == 1)
    fixture.resume()
    #expect(fixture.environment.runningCount == 0)
  }
}

/// A stage that suspends on the given pieces, and at the end of the body if `end` is given. It converts the pieces on
/// which it suspends to capital letters. The test uses it on one thread.
private final class HoldingStage: Interceptor, @unchecked Sendable {
  let capabilities: StageCapabilities = .requestPieces
  private let held: Set<String>
  private(set) var token: SuspensionToken?
  private(set) var pieces: [String] = []
  private(set) var endCount = 0
  private(set) var cancelledCount = 0

  init(_ held: Set<String>) { self.held = held }

  func interceptPiece(
    _ exchange: Exchange, _ side: MessageSide, _ piece: [UInt8], _ output: inout [UInt8]
  ) -> PieceVerdict {
    let text = String(decoding: piece, as: UTF8.self)
    pieces.append(text)
    guard held.contains(text) else { return .pass }
    token = exchange.suspend()
    output = Array(text.uppercased().utf8)
    return .suspended
  }

  func interceptBodyEnd(_ exchange: Exchange, _ side: MessageSide, _ output: inout [UInt8]) -> PieceVerdict {
    endCount += 1
    guard held.contains("end") else { return .pass }
    token = exchange.suspend()
    return .suspended
  }

  func suspensionWasCancelled(_ token: SuspensionToken) { cancelledCount += 1 }
}
